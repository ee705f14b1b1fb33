export { InstanceKey } from './instance-key.ts';
export { encrypt, decrypt } from './encrypt.ts';
export { beginRotation, endRotation, reencrypt } from './rotate-key.ts';
