"""Photographs that carry depth, made from their parts: GDepth, Dynamic Depth, Apple's further pictures."""
import base64
import hashlib
import io
import struct

import numpy as np
from PIL import Image

XMP = b"http://ns.adobe.com/xap/1.0/\0"
EXTENSION = b"http://ns.adobe.com/xmp/extension/\0"
GOOGLE = "http://ns.google.com/photos/1.0/"
DYNAMIC = "http://ns.google.com/photos/dd/1.0/"


def jpeg(pixels, orientation=None, subject=None, focal_length_35=None):
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    details = exif.get_ifd(0x8769)
    if subject:
        details[0x9214] = subject
    if focal_length_35:
        details[0xA405] = focal_length_35
    if details:
        exif[0x8769] = dict(details)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=95, **({"exif": exif} if len(exif) else {}))
    return stream.getvalue()


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def segment(marker, content):
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def with_segments(file, segments):
    """Behind the start marker."""
    return file[:2] + b"".join(segments) + file[2:]


def packet(attributes="", elements=""):
    spaces = {"GDepth": GOOGLE + "depthmap/", "GImage": GOOGLE + "image/", "GFocus": GOOGLE + "focus/",
              "Container": DYNAMIC + "container/", "Item": DYNAMIC + "item/", "Device": DYNAMIC + "device/",
              "Camera": DYNAMIC + "camera/", "DepthMap": DYNAMIC + "depthmap/", "Image": DYNAMIC + "image/",
              "xmpNote": "http://ns.adobe.com/xmp/note/", "apdi": "http://ns.apple.com/pixeldatainfo/1.0/"}
    declared = " ".join('xmlns:%s="%s"' % space for space in spaces.items())
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description rdf:about="" %s %s>%s</rdf:Description></rdf:RDF></x:xmpmeta>'
            % (declared, attributes, elements)).encode()


def attributes_of(prefix, values):
    return " ".join('%s:%s="%s"' % (prefix, name, value) for name, value in values.items())


def extended_segments(extended, part=500):
    """The standard packet's attribute, and the segments of the extended one."""
    guid = hashlib.md5(extended).hexdigest().upper()
    segments = [segment(0xE1, EXTENSION + guid.encode() + struct.pack(">II", len(extended), at) +
                        extended[at:at + part]) for at in range(0, len(extended), part)]
    return 'xmpNote:HasExtendedXMP="%s"' % guid, segments


def gdepth(picture, depth_item, original=None, focus=None, order=lambda segments: segments, **terms):
    """Depth and original in the extended packet. `order` moves the segments, the standard one among them."""
    terms = {"Format": "RangeInverse", "Near": "0.5", "Far": "8", "Mime": "image/png", **terms}
    data = 'GDepth:Data="%s"' % base64.b64encode(depth_item).decode()
    if original:
        data += ' GImage:Data="%s"' % base64.b64encode(original).decode()
    note, segments = extended_segments(packet(data))
    standard = segment(0xE1, XMP + packet(" ".join(
        [attributes_of("GDepth", terms), attributes_of("GFocus", focus or {}), note])))
    return with_segments(picture, order([standard] + segments))


def dynamic_depth(picture, depth_item, original=None, padding=0, length=None, **terms):
    """A container: the picture, its padding, the original if there is one, the depth."""
    terms = {"Format": "RangeInverse", "Near": "0.5", "Far": "8", "Units": "Meters", "DepthURI": "android/depth",
             **terms}
    items = [("image/jpeg", 0, "primary_image", padding)]
    if original:
        items.append(("image/jpeg", len(original), "android/original", 0))
    items.append(("image/png", len(depth_item) if length is None else length, "android/depth", 0))
    directory = "".join(
        '<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="%s" Item:Length="%d" Item:DataURI="%s" '
        'Item:Padding="%d"/></rdf:li>' % item for item in items)
    image = '<Camera:Image Image:ItemSemantic="Original" Image:ItemURI="android/original"/>' if original else ""
    cameras = ('<Device:Cameras><rdf:Seq><rdf:li rdf:parseType="Resource"><Device:Camera>%s<Camera:DepthMap %s/>'
               "</Device:Camera></rdf:li></rdf:Seq></Device:Cameras>" % (image, attributes_of("DepthMap", terms)))
    xmp = packet("", "<Container:Directory><rdf:Seq>%s</rdf:Seq></Container:Directory>%s" % (directory, cameras))
    return with_segments(picture, [segment(0xE1, XMP + xmp)]) + bytes(padding) + (original or b"") + depth_item


def auxiliary(pixels, kind, **values):
    values = {"AuxiliaryImageType": kind, **values}
    elements = "".join("<apdi:%s>%s</apdi:%s>" % (name, value, name) for name, value in values.items())
    return with_segments(jpeg(pixels), [segment(0xE1, XMP + packet("", elements))])


def apple(picture, others, kind=0):
    """Further pictures behind the first one, named by an index as of this kind (CIPA DC-007, "MP Type Code")."""
    count = len(others) + 1
    directory = struct.pack("<H", 3) + struct.pack("<HHI4s", 0xB000, 7, 4, b"0100")
    directory += struct.pack("<HHII", 0xB001, 4, 1, count)
    directory += struct.pack("<HHII", 0xB002, 7, 16 * count, 8 + 2 + 3 * 12 + 4) + struct.pack("<I", 0)
    size = len(picture) + 4 + 4 + 8 + len(directory) + 16 * count
    entries = struct.pack("<IIIHH", 0x030000, size, 0, 0, 0)
    at = size - 10  # position of the index's header
    for other in others:
        entries += struct.pack("<IIIHH", kind, len(other), at, 0, 0)
        at += len(other)
    index = segment(0xE2, b"MPF\0" + b"II*\0" + struct.pack("<I", 8) + directory + entries)
    return with_segments(picture, [index]) + b"".join(others)


def turned(pixels, orientation):
    """The pixels as a camera stores what is upright."""
    ways = {1: lambda a: a, 2: np.fliplr, 3: lambda a: np.rot90(a, 2), 4: np.flipud, 5: lambda a: np.swapaxes(a, 0, 1),
            6: lambda a: np.rot90(a, 1), 7: lambda a: np.rot90(np.swapaxes(a, 0, 1), 2), 8: lambda a: np.rot90(a, -1)}
    return np.ascontiguousarray(ways[orientation](pixels))
