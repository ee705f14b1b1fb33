export {
  conflict,
  DomainError,
  forbidden,
  internal,
  invalid,
  isDomainError,
  notFound,
  nullIfNotFound,
  unauthenticated,
  unavailable,
} from './errors.ts';
export type { ErrorCode, ErrorDetails } from './errors.ts';
export { systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export { systemRandom } from './random.ts';
export type { Random } from './random.ts';
export { createHistogram } from './histogram.ts';
export type { Histogram } from './histogram.ts';
export { silentLogger } from './logger.ts';
export type { Logger, LogFields } from './logger.ts';
export { addressGroup } from './address-group.ts';
