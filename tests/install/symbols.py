"""The shared libraries export exactly what the reference documents: no more, and no less."""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

xml, *libraries = sys.argv[1:]

classes, functions, needed = set(), set(), set()
for page in pathlib.Path(xml).glob("*.xml"):
    for compound in ElementTree.parse(page).getroot().iter("compounddef"):
        name = compound.findtext("compoundname")
        kind = compound.get("kind")
        if kind in ("class", "struct"):
            classes.add(name)
        if kind not in ("class", "struct", "namespace", "file"):
            continue
        templated = compound.find("templateparamlist") is not None
        for member in compound.iter("memberdef"):
            if member.get("kind") != "function":
                continue
            short = member.findtext("name")
            if kind == "file" and not short.startswith("satin_"):
                continue
            full = short if kind == "file" else name + "::" + short
            functions.add(full)
            arguments = member.findtext("argsstring") or ""
            no_symbol = re.search(r"=\s*(0|default|delete)$", arguments) or member.find("templateparamlist") is not None
            header = member.find("location").get("file")
            apart = header.endswith((".cuh", "/opencv.h", "/dlpack.h", "/chain.h"))  # nothing but inline
            if not (templated or no_symbol or apart or member.get("inline") == "yes"):
                needed.add(full)

exported = {}
for library in libraries:
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        kind, symbol = line.split(maxsplit=2)[1:]
        if kind != "A":  # the version's own name
            exported[symbol.split("@@")[0]] = pathlib.Path(library).name
assert len(needed) > 100 and len(exported) > 100, (len(needed), len(exported))


def plain(symbol):
    """satin::Bins::even(double, double, long) -> satin::Bins::even"""
    symbol = symbol.replace("[abi:cxx11]", "")
    symbol = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", symbol)))
    name = symbol.split("(")[0]
    return name.split(" ")[-1] if " operator " not in name else name.split(" operator ")[0]


def is_public(symbol):
    table = re.fullmatch(r"(?:typeinfo|typeinfo name|vtable) for (.*)", symbol)
    if table:
        return table[1] in classes
    conversion = re.fullmatch(r"(.*)::operator [\w:<> ]+\(\) const", symbol)
    if conversion:
        return plain(conversion[1]) in classes
    name = plain(symbol)
    owner, _, short = name.rpartition("::")
    made_by_the_compiler = owner in classes and (short.lstrip("~") == owner.split("::")[-1] or short == "operator=")
    return name in functions or made_by_the_compiler


problems = [f"{library} exports {symbol}, which no public header documents" for symbol, library in sorted(exported.items())
            if not is_public(symbol)]
found = {plain(symbol) for symbol in exported}
problems += [f"{name} is public but not exported" for name in sorted(needed - found)]
print(f"{len(exported)} symbols, {len(needed)} functions of the headers that need one")
print("\n".join(problems))
sys.exit(1 if problems else 0)
