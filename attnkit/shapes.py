"""Shapes in signatures, ``Float[Tensor, "heads n_queries n_keys"]``, in the manner of jaxtyping.

People read the kind of number and the axes; a type checker reads ``Tensor``, with nothing installed
but PyTorch. Modules import these names for type checkers alone.

>>> Float[int, "n_queries"].__origin__
<class 'int'>
"""

from typing import Annotated as Bool
from typing import Annotated as Float
from typing import Annotated as Int
from typing import Annotated as Shaped

__all__ = ["Bool", "Float", "Int", "Shaped"]
