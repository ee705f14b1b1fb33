export { createSshServer } from './ssh-server.ts';
export { agreedHostKey, hostKey, shareHostKey } from './keys/host-key.ts';
export { sshdControlCommands } from './sshd-control-commands.ts';
export type { SshLimits } from './limits.ts';
