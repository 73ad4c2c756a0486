"""Pipelines: as text, planned, from threads."""
import gc
import sys
import threading

import numpy as np
import pytest

import satin


@pytest.fixture
def image(random):
    return random.integers(0, 256, (60, 70, 3), np.uint8)


def test_a_pipeline_is_its_filters_one_after_another(image):
    expected = satin.unsharp(satin.blur(image, radius=3), amount=0.5, sigma=2)
    np.testing.assert_array_equal(satin.run("blur radius=3 | unsharp amount=0.5 sigma=2", image), expected)


def test_side_inputs_by_name(random, image):
    sky = random.integers(0, 256, (60, 70), np.uint8)
    result = satin.run("blur radius=3 mask=sky | blur radius=1 mask='the sky'", image, inputs={"sky": sky, "the sky": sky})
    np.testing.assert_array_equal(result, satin.blur(satin.blur(image, radius=3, mask=sky), radius=1, mask=sky))


@pytest.mark.parametrize(
    "text,inputs,message",
    [
        ("blurr radius=3", {}, "Column 1 .*Did you mean 'blur'"),
        ("blur radius=3 | blur radus=4", {}, "Column 22 .*radius"),
        ("blur mask=sky", {}, "sky"),
        ("blur mask=sky", {"sea": np.zeros((60, 70), np.uint8), "sky": np.zeros((60, 70), np.uint8)}, "sea"),
        ("", {}, "the name of a filter is expected"),
    ],
)
def test_wrong_pipelines(image, text, inputs, message):
    with pytest.raises(ValueError, match=message):
        satin.run(text, image, inputs=inputs)


def test_tables_end_pipelines(image):
    table = satin.run("blur radius=1 | integral", image)
    assert table.dtype == np.uint32
    np.testing.assert_array_equal(table[-1, -1], satin.blur(image, radius=1).astype(np.uint64).sum((0, 1)))


def test_plans(random, image):
    plan = satin.Plan("blur radius=3 | threshold", image)
    assert plan.shape == (60, 70) and plan.dtype == "uint8" and plan.workspace_bytes > 0
    out = np.empty((60, 70), np.uint8)
    for each in (image, 255 - image, image[::-1]):
        assert plan(each, out=out) is out
        np.testing.assert_array_equal(out, satin.threshold(satin.blur(each, radius=3)))
    assert plan.check() == []
    with pytest.raises(ValueError, match="plan is for"):
        plan(image[:-1])


def test_plans_with_side_inputs(random, image):
    first, second = random.integers(0, 256, (2, 60, 70), np.uint8)
    plan = satin.Plan("blur radius=3 mask=m", image, inputs={"m": first})
    np.testing.assert_array_equal(plan(image, inputs={"m": second}), satin.blur(image, radius=3, mask=second))
    with pytest.raises(ValueError, match="m"):
        plan(image)


# --- Threads. ---


def in_threads(count, function):
    results = [None] * count
    start = threading.Barrier(count)

    def work(index):
        start.wait()
        results[index] = function(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("shared", [True, False], ids=["one device", "one device each"])
def test_eight_threads(random, shared):
    images = random.integers(0, 256, (8, 200, 300, 3), np.uint8)
    one = satin.Device("cpu")
    text = "blur radius=5 | threshold window=15"
    expected = [satin.run(text, image, device=one) for image in images]

    def work(index):
        device = one if shared else satin.Device("cpu", threads=1)
        return [satin.run(text, images[index], device=device) for _ in range(4)][-1]

    for result, wanted in zip(in_threads(8, work), expected):
        np.testing.assert_array_equal(result, wanted)


def test_threads_share_a_plan(random):
    images = random.integers(0, 256, (8, 100, 150), np.uint8)
    plan = satin.Plan("blur radius=5", images[0])
    expected = [satin.blur(image, radius=5) for image in images]
    for result, wanted in zip(in_threads(8, lambda index: plan(images[index])), expected):
        np.testing.assert_array_equal(result, wanted)


def test_other_threads_run_while_a_filter_does():
    """With a switch interval that never ends, another thread runs only while the lock is given away."""
    image = np.zeros((2000, 2000), np.uint8)
    gate, ran = threading.Lock(), threading.Event()
    gate.acquire()

    def other():
        gate.acquire()
        ran.set()

    thread = threading.Thread(target=other)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        gate.release()
        for _ in range(50):
            if ran.is_set():
                break
            satin.blur(image, radius=50)
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def test_results_own_their_memory(image):
    labels = satin.find_regions(image[..., 0]).labels
    copy = labels.copy()
    gc.collect()
    satin.find_regions(255 - image[..., 0])
    np.testing.assert_array_equal(labels, copy)
