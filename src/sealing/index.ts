export { InstanceKey } from './instance-key.ts';
export { seal, unseal } from './seal.ts';
