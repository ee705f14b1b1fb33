export { InstanceKey } from './instance-key.ts';
export { encrypt, decrypt } from './encrypt.ts';
