import type { Readable, Writable } from 'node:stream';
import type { Accounts } from '../accounts/index.ts';
import type { Config } from '../config/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Repositories } from '../repositories/index.ts';

/** What the server asks of the rooms behind it. */
export interface SshRooms {
  accounts: SshAccounts;
  repositories: SshRepositories;
  git: SshGit;
  config: Pick<Config, 'dataDir' | 'ssh' | 'baseUrl'>;
  logger: Logger;
  clock: Clock;
  random: Random;
}

export type SshAccounts = Pick<Accounts, 'viewerOfKey'>;

export type SshRepositories = Pick<Repositories, 'openForRead' | 'openForPush' | 'receivePush' | 'create' | 'find' | 'list'>;

interface Conversation {
  path: string;
  input: Readable;
  output: Writable;
  signal: AbortSignal;
}

export interface SshGit {
  advertiseRefs(asked: { path: string; service: 'receive-pack'; protocol: string | null }): Promise<Buffer>;
  uploadPack(asked: Conversation & { protocol: string | null; stateless: false }): Promise<{ exitCode: number }>;
  uploadArchive(asked: Conversation): Promise<{ exitCode: number }>;
}
