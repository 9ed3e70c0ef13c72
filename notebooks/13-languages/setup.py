"""Builds and installs extension.cu as the package warpbook_extension: the note's other way.

    pip install --no-build-isolation notebooks/13-languages

needs PyTorch, nvcc and a C++ compiler. extension.py builds the same file without a package.
"""

import pathlib

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

here = pathlib.Path(__file__).parent
setup(
    name="warpbook_extension",
    version="0.1",
    ext_modules=[CUDAExtension("warpbook_extension", [str(here / "extension.cu")], extra_compile_args={"nvcc": ["-O3"]})],
    cmdclass={"build_ext": BuildExtension},
)
