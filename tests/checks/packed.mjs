// torch.nn.utils.rnn.PackedSequence: a tuple with names, as PyTorch's, that is taken apart and put together again, and
// goes to other types and devices.

const LENGTHS = [2, 4, 1];
const packedOf = (t, options = { enforce_sorted: false }) => {
  const own = LENGTHS.map((n, i) => t.tensor(Array.from({ length: n }, (_, k) => [10 * i + k, k])));
  return [own, t.torch.nn.utils.rnn.pack_sequence(own, options)];
};
const lists = (tensors) => Promise.all([...tensors].map((x) => x.tolist()));

export default {
  "it is taken apart and put together": async (t) => {
    const { PackedSequence, pad_packed_sequence, unpack_sequence } = t.torch.nn.utils.rnn,
      [own, packed] = packedOf(t),
      [data, batch_sizes, sorted_indices, unsorted_indices] = packed;
    t.equal(
      [await data.tolist(), [...batch_sizes], ...(await lists([sorted_indices, unsorted_indices]))],
      [
        [
          [10, 0],
          [0, 0],
          [20, 0],
          [11, 1],
          [1, 1],
          [12, 2],
          [13, 3],
        ],
        [3, 2, 1, 1],
        [1, 0, 2],
        [1, 0, 2],
      ],
    );
    const doubled = await lists(own.map((x) => x.mul(2)));
    for (const same of [
      PackedSequence(data.mul(2), batch_sizes, sorted_indices, unsorted_indices),
      PackedSequence(data.mul(2), batch_sizes, sorted_indices),
      PackedSequence({ data: data.mul(2), batch_sizes, sorted_indices, unsorted_indices }),
      packed._replace({ data: data.mul(2) }),
    ]) {
      t.equal(await lists(unpack_sequence(same)), doubled);
      const [padded, lengths] = pad_packed_sequence(same, { batch_first: true });
      t.equal(
        [await padded.select(0, 2).tolist(), await lengths.tolist()],
        [
          [
            [40, 0],
            [0, 0],
            [0, 0],
            [0, 0],
          ],
          LENGTHS,
        ],
      );
    }
  },
  "lengths lie on the CPU, where packing asks for them": async (t) => {
    const { pack_padded_sequence, pad_packed_sequence } = t.torch.nn.utils.rnn,
      [, packed] = packedOf(t),
      [padded, lengths] = pad_packed_sequence(packed),
      again = pack_padded_sequence(padded, lengths, { enforce_sorted: false });
    t.equal([lengths.device, lengths.dtype], ["cpu", "int64"]);
    t.equal(await again.data.tolist(), await packed.data.tolist());
  },
  "an order that only the device knows": async (t) => {
    const { PackedSequence, pad_packed_sequence } = t.torch.nn.utils.rnn,
      [, { data, batch_sizes }] = packedOf(t),
      order = t.torch.argsort(t.tensor(LENGTHS), { descending: true }),
      [padded, lengths] = pad_packed_sequence(PackedSequence(data, batch_sizes, order));
    t.equal([await padded.select(1, 1).select(1, 0).tolist(), await lengths.tolist()], [[10, 11, 12, 13], LENGTHS]);
  },
  "types and devices": async (t) => {
    const { rnn } = t.torch.nn.utils,
      [own, packed] = packedOf(t);
    for (const [method, dtype] of [
      ["int", "int32"],
      ["short", "int16"],
      ["char", "int8"],
      ["byte", "uint8"],
    ]) {
      const other = packed[method]();
      t.equal([other.data.dtype, await lists(rnn.unpack_sequence(other))], [dtype, await lists(own)]);
    }
    if (t.device === "cpu") t.equal([packed.half().data.dtype, packed.double().data.dtype], ["float16", "float64"]);
    t.equal([packed.float() === packed, packed.is_cuda, packed.is_pinned()], [true, false, false]);
    const host = await packed.cpu();
    t.equal([host.data.device, host.sorted_indices.device], ["cpu", "cpu"]);
    const back = host.to(t.device);
    t.equal([back.data.device, back.unsorted_indices.device], [t.device, t.device]);
    t.equal(await lists(rnn.unpack_sequence(back)), await lists(own));
    t.equal(
      (
        await packedOf(t, { enforce_sorted: false })[1]
          ._replace({ sorted_indices: null, unsorted_indices: null })
          .to("cpu")
      ).sorted_indices,
      null,
    );
  },
  "networks say which weights each direction of each layer has": async (t) => {
    const shapes = (m) => m.all_weights.map((weights) => weights.map((w) => [...w.shape])),
      { nn } = t.torch,
      of = [[12, 2], [12, 1], [12], [12], [1, 3]];
    t.equal(shapes(nn.LSTM(2, 3, 2, { bidirectional: true, proj_size: 1 })), [of, of, of, of]);
    const gru = nn.GRU(2, 3, { bias: false });
    gru.flatten_parameters();
    t.equal(gru.all_weights[0][1] === gru.weight_hh_l0, true);
    t.equal(shapes(gru), [
      [
        [9, 2],
        [9, 3],
      ],
    ]);
  },
};
