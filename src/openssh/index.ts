export { fingerprint } from './fingerprint.ts';
export { generateKey } from './generate-key.ts';
export { readPrivateKey } from './read-private-key.ts';
export { sshString, uint32 } from './ssh-string.ts';
