// torch.utils.data.

export {
  ConcatDataset,
  Dataset,
  IterableDataset,
  Subset,
  TensorDataset,
  random_split,
  type Batching,
  type DatasetLike,
  type IterableLike,
  type MapDataset,
} from "./dataset.js";
export { ChainDataset, StackDataset } from "./joined.js";
export { DataLoader, get_worker_info, type DataLoaderOptions } from "./loader.js";
export {
  BatchSampler,
  RandomSampler,
  Sampler,
  SequentialSampler,
  SubsetRandomSampler,
  WeightedRandomSampler,
  type Order,
  type RandomSamplerOptions,
} from "./sampler.js";
export { default_collate, default_convert } from "./collate.js";
