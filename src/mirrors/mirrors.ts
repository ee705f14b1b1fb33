import type { Config } from '../config/index.ts';
import { createOutbound, isListed } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { keysAt, repositoriesAt } from './forge-client.ts';
import { acceptHostKey } from './accept-host-key.ts';
import { importRepository } from './import-repository.ts';
import {
  askForSync,
  endMirror,
  findMirror,
  refusePushesToMirrors,
  onPush,
  listFailing,
  listMirrors,
  saveMirror,
  setPaused,
} from './manage-mirrors.ts';
import type { MirrorDeps } from './deps.ts';
import { createRunner, freeClaims } from './run-due-mirrors.ts';

export interface MirrorOptions extends Omit<MirrorDeps, 'settings' | 'outbound' | 'key' | 'progress'> {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'mirrors'>;
  /** What opens stored secrets. */
  keyFile: string;
}

/**
 * Mirrors: repositories that follow one elsewhere, or that one elsewhere follows, and imports.
 * Whether somebody may look after them is decided before this room is asked.
 */
export function createMirrors({ config: { baseUrl, caFile, mirrors }, keyFile, ...tools }: MirrorOptions) {
  // Named by an administrator: any address, and without TLS or by ssh.
  const isNamed = (url: URL): boolean => isListed(url, mirrors.allowedHosts);
  const deps: MirrorDeps = {
    ...tools,
    outbound: createOutbound({
      isAllowed: () => true,
      devAllowInsecure: false,
      allowsPrivate: isNamed,
      allowsHttp: isNamed,
      mayUseSsh: isNamed,
      caFile,
    }),
    key: new InstanceKey(keyFile, tools.random, 'mirrors'),
    progress: new Map(),
    settings: { caFile, name: baseUrl === null ? 'hearth' : new URL(baseUrl).hostname },
  };
  const runner = createRunner(deps);
  const wake = (): void =>
    void runner.run().catch((error: unknown) => deps.logger.error('mirror.run_failed', { error }));

  /** Gives the room to a use-case; what remains are the parameters its own page describes. */
  const bind =
    <Rest extends unknown[], Result>(useCase: (deps: MirrorDeps, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      useCase(deps, ...rest);
  /** The same for what makes a mirror due: it begins beside the answer. */
  const soon =
    <Rest extends unknown[], Result>(useCase: (deps: MirrorDeps, ...rest: Rest) => Promise<Result>) =>
    async (...rest: Rest): Promise<Result> => {
      const result = await useCase(deps, ...rest);
      wake();
      return result;
    };

  return {
    find: bind(findMirror),
    list: bind(listMirrors),
    listFailing: bind(listFailing),
    save: soon(saveMirror),
    sync: soon(askForSync),
    setPaused: soon(setPaused),
    end: bind(endMirror),
    acceptHostKey: soon(acceptHostKey),
    import: soon(importRepository),
    keysAt: bind(keysAt),
    repositoriesAt: bind(repositoriesAt),
    /** For `repositories.refusePushes`. */
    guard: refusePushesToMirrors,
    /** For `repositories.onPush`. */
    onPush: onPush(deps, wake),
    /** At start, with the instance lock held. */
    recover: bind(freeClaims),
    /** For a job: runs what is due, and waits for it. */
    runDue: () => runner.run(),
    async stop(): Promise<void> {
      await runner.stop();
      deps.outbound.close();
    },
  };
}

export type Mirrors = ReturnType<typeof createMirrors>;
