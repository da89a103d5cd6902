"""Writes the transformer all-MiniLM-L6-v2 as an ONNX model: token ids of one text in, the mean of the last layer out.

The package that holds the weights has no ONNX file. One text at a time needs no
padding, hence no mask.
"""

import os

import numpy as np

LAYERS, HEADS, WIDTH = 6, 12, 32


def export(weights_path, path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from safetensors.numpy import load_file

    weights = load_file(weights_path)
    nodes, constants = [], {}

    def constant(name, value):
        constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def ints(*values):
        return constant("ints_" + "_".join(map(str, values)), np.array(values, np.int64))

    def op(kind, *inputs, **attributes):
        out = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def linear(x, name):
        y = op("MatMul", x, constant(name + ".weight", weights[name + ".weight"].T))
        return op("Add", y, constant(name + ".bias", weights[name + ".bias"]))

    def norm(x, name):
        scale, shift = (constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)

    def scalar(name, value):
        return constant(name, np.float32(value))

    def heads(x, order):
        return op("Transpose", op("Reshape", x, ints(-1, HEADS, WIDTH)), perm=order)

    def gelu(x):
        y = op("Erf", op("Mul", x, scalar("root_half", np.sqrt(0.5))))
        return op("Mul", op("Mul", x, scalar("half", 0.5)), op("Add", y, scalar("one", 1)))

    e = "embeddings."
    words = op("Gather", constant("words", weights[e + "word_embeddings.weight"]), "ids")
    places = constant("places", weights[e + "position_embeddings.weight"] + weights[e + "token_type_embeddings.weight"][0])
    x = op("Add", words, op("Slice", places, ints(0), op("Shape", "ids"), ints(0)))
    x = norm(x, e + "LayerNorm")
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}."
        q = heads(linear(x, p + "attention.self.query"), [1, 0, 2])
        k = heads(linear(x, p + "attention.self.key"), [1, 2, 0])
        v = heads(linear(x, p + "attention.self.value"), [1, 0, 2])
        a = op("Softmax", op("Mul", op("MatMul", q, k), scalar("scale", WIDTH**-0.5)), axis=-1)
        a = op("Reshape", op("Transpose", op("MatMul", a, v), perm=[1, 0, 2]), ints(-1, HEADS * WIDTH))
        x = norm(op("Add", x, linear(a, p + "attention.output.dense")), p + "attention.output.LayerNorm")
        h = gelu(linear(x, p + "intermediate.dense"))
        x = norm(op("Add", x, linear(h, p + "output.dense")), p + "output.LayerNorm")
    nodes.append(helper.make_node("ReduceMean", [x, ints(0)], ["mean"], keepdims=0))

    graph = helper.make_graph(
        nodes,
        "minilm",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])],
        [helper.make_tensor_value_info("mean", TensorProto.FLOAT, [HEADS * WIDTH])],
        list(constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path + ".part")
    os.replace(path + ".part", path)
