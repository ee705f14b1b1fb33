export { InstanceKey } from './instance-key.ts';
export { makeRsaKey } from './make-rsa-key.ts';
export { encrypt, decrypt } from './encrypt.ts';
export { beginRotation, endRotation, reencrypt } from './rotate-key.ts';
