"""Tensors of PyTorch in GPU memory: where they are, on PyTorch's stream. Needs a GPU, a build with CUDA, and PyTorch."""
import numpy as np
import pytest
from conftest import has_cuda

import satin
from satin._arrays import picture

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not (has_cuda() and torch.cuda.is_available()), reason="there is no GPU, or a build without CUDA"
)


@pytest.fixture
def image(random):
    return random.integers(0, 256, (3, 211, 307), np.uint8)


def test_the_bytes_of_the_cpu(image):
    expected = satin.blur(image, radius=5.5, layout="CHW", device="cpu")
    result = satin.blur(torch.from_numpy(image).cuda(), radius=5.5, layout="CHW")
    assert result.is_cuda and result.dtype == torch.uint8
    np.testing.assert_array_equal(result.cpu().numpy(), expected)


@pytest.mark.parametrize("change", [lambda t: t, lambda t: t.flip(1), lambda t: t[:, ::2, 1::3], lambda t: t.permute(0, 2, 1)])
def test_strided_tensors_are_looked_at_in_place(image, change):
    tensor = change(torch.from_numpy(image).cuda())
    assert picture(tensor, "image", "CHW").address == tensor.data_ptr()
    expected = satin.blur(tensor.cpu().numpy(), radius=3, layout="CHW", device="cpu")
    np.testing.assert_array_equal(satin.blur(tensor, radius=3, layout="CHW").cpu().numpy(), expected)


def test_a_plan_works_in_pytorchs_stream_and_does_not_wait(image):
    tensor = torch.from_numpy(image).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        plan = satin.Plan("blur radius=4 | unsharp sigma=2", tensor, layout="CHW")
        out = torch.empty_like(tensor)
        plan(tensor, out=out)  # what is loaded and set up once
        stream.synchronize()
        out.zero_()
        bytes_before = torch.cuda.memory_allocated()
        place = out.data_ptr()
        done = torch.cuda.Event()
        torch.cuda._sleep(2_000_000_000)  # cycles: about a second
        plan(tensor, out=out)
        done.record()
        assert not done.query(), "the call waited for what was before it in the stream"
        assert (out.data_ptr(), torch.cuda.memory_allocated()) == (place, bytes_before)
    done.synchronize()
    assert plan.check() == []
    expected = satin.run("blur radius=4 | unsharp sigma=2", image, layout="CHW", device="cpu")
    np.testing.assert_array_equal(out.cpu().numpy(), expected)


def test_work_follows_what_pytorch_put_into_its_stream(image):
    tensor = torch.zeros(image.shape, dtype=torch.uint8, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(500_000_000)
        tensor.copy_(torch.from_numpy(image))
        result = satin.blur(tensor, radius=4, layout="CHW")
        regions = satin.find_regions(satin.threshold(tensor, layout="CHW"))
    np.testing.assert_array_equal(result.cpu().numpy(), satin.blur(image, radius=4, layout="CHW", device="cpu"))
    grey = satin.threshold(image, layout="CHW", device="cpu")
    expected = satin.find_regions(grey, device="cpu")
    assert regions.regions == expected.regions
    np.testing.assert_array_equal(regions.labels.cpu().numpy(), expected.labels)


def test_scans(random):
    values = random.integers(0, 100, 100003).astype(np.int32)
    tensor = torch.from_numpy(values).cuda()
    sums = satin.scan.inclusive_scan(tensor)
    assert sums.is_cuda
    np.testing.assert_array_equal(sums.cpu().numpy(), np.cumsum(values, dtype=np.int32))
    assert satin.scan.reduce(tensor, "max") == values.max()
    assert satin.scan.compact(tensor, (">", 50)).cpu().tolist() == values[values > 50].tolist()


def test_errors_of_data(image):
    tensor = torch.from_numpy(image).cuda().float()
    tensor[0, 3, 3] = float("nan")
    with pytest.raises(ValueError, match="NaN"):
        satin.blur(tensor, layout="CHW")
    plan = satin.Plan("blur", tensor, layout="CHW")
    plan(tensor)
    with pytest.raises(ValueError, match="NaN"):
        plan.check()
