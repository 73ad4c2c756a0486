"""Run lengths of masks by COCO's definition, one pixel and one number after another."""
import numpy as np


def counts(mask):
    """Lengths of the runs down the columns, by turns outside and inside."""
    result, inside = [0], False
    for value in np.asarray(mask).T.ravel() != 0:
        if value != inside:
            result.append(0)
            inside = not inside
        result[-1] += 1
    return result


def mask(counts, size):
    values = np.repeat(np.arange(len(counts)) % 2, counts)
    return values.reshape(size[1], size[0]).T.astype(np.uint8) * 255


def text(counts):
    result = ""
    for i, count in enumerate(counts):
        number = count - counts[i - 2] if i > 2 else count
        while True:
            group, number = number & 31, number >> 5
            last = number == (-1 if group & 16 else 0)
            result += chr(48 + group + (0 if last else 32))
            if last:
                break
    return result


def numbers(text):
    result, at = [], 0
    while at < len(text):
        number, shift = 0, 0
        while True:
            group = ord(text[at]) - 48
            at += 1
            number |= (group & 31) << shift
            shift += 5
            if not group & 32:
                break
        if group & 16:
            number -= 1 << shift
        result.append(number + (result[-2] if len(result) > 2 else 0))
    return result
