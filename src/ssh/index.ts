export { createSshServer } from './ssh-server.ts';
export type { SshServer, SshServerNeeds } from './ssh-server.ts';
export type { SshLimits } from './limits.ts';
