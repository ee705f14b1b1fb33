export { addressGroup } from '../kernel/index.ts';
