"""Run beside scene.jpg where the package is installed: writes from_python.png, which is to be what the command writes."""

import satin

assert {"PNG", "JPEG", "TIFF", "OpenEXR"} <= {each["name"] for each in satin.formats() if each["reads"]}
image, metadata = satin.read("scene.jpg", metadata=True)
satin.write("from_python.png", satin.blur(image, radius=8), metadata=metadata, convert=True)
print("satin", satin.__version__, satin.__file__)
