import path from 'node:path';
import { bindDeps } from '../kernel/index.ts';
import type { Config } from '../config/index.ts';
import { createOutbound, isAllowedHost } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { keysAt, repositoriesAt } from './forge-client.ts';
import { bringLfs, bringRefs, bringReleases, forgetRefs } from './bring-repository.ts';
import { bringWiki } from './bring-wiki.ts';
import { bringLfsFrom, bringRefsFrom, bringReleasesFrom, bringWikiFrom } from './bring-from-files.ts';
import { acceptHostKey } from './accept-host-key.ts';
import { importRepository } from './import-repository.ts';
import { addCopy, bringCopiesForward, endCopy, moveCopy, pauseCopies } from './kept-copies.ts';
import type { AllowanceOfCopy } from './copy-limits.ts';
import {
  requestSync,
  endMirror,
  findMirror,
  refusePushesToMirrors,
  onPush,
  listFailing,
  listMirrors,
  mirrorsOf,
  saveMirror,
  setPaused,
} from './manage-mirrors.ts';
import { reencryptSecrets } from './reencrypt-secrets.ts';
import type { MirrorDeps } from './deps.ts';
import { createRunner, freeClaims } from './run-due-mirrors.ts';

export interface MirrorOptions extends Omit<MirrorDeps, 'settings' | 'outbound' | 'key' | 'progress' | 'copies'> {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'dataDir' | 'mirrors'>;
  /** The instance key, which decrypts stored secrets. */
  keyFile: string;
}

/** Pull mirrors, push mirrors and imports. The caller checks access. */
export function createMirrors({ config: { baseUrl, caFile, dataDir, mirrors }, keyFile, ...tools }: MirrorOptions) {
  // Hosts on the administrator's list: any address, and also http and ssh.
  const isNamed = (url: URL): boolean => isAllowedHost(url, mirrors.allowedHosts);
  const deps: MirrorDeps = {
    ...tools,
    outbound: createOutbound({
      isAllowed: () => true,
      devAllowInsecure: false,
      allowsPrivate: isNamed,
      allowsHttp: isNamed,
      mayUseSsh: isNamed,
      baseUrl,
      caFile,
    }),
    key: new InstanceKey(keyFile, tools.random, 'mirrors'),
    progress: new Map(),
    copies: { allowanceOf: async () => ({ bytes: 0, limit: 'any' }) },
    settings: {
      caFile,
      name: baseUrl === null ? 'hearth' : new URL(baseUrl).hostname,
      temporaryFolder: path.join(dataDir, 'tmp'),
      isNamed,
    },
  };
  const runner = createRunner(deps);
  const wake = (): void =>
    void runner.run().catch((error: unknown) => deps.logger.error('mirror.run_failed', { error }));

  const bind = bindDeps(deps);
  /** The same for use cases that make a mirror due: the transfer starts in the background. */
  const soon =
    <Rest extends unknown[], Result>(useCase: (deps: MirrorDeps, ...rest: Rest) => Promise<Result>) =>
    async (...rest: Rest): Promise<Result> => {
      const result = await useCase(deps, ...rest);
      wake();
      return result;
    };

  return {
    find: bind(findMirror),
    of: bind(mirrorsOf),
    /** Called after a rotation of the instance key. */
    reencrypt: bind(reencryptSecrets),
    list: bind(listMirrors),
    listFailing: bind(listFailing),
    save: soon(saveMirror),
    sync: soon(requestSync),
    setPaused: soon(setPaused),
    end: bind(endMirror),
    acceptHostKey: soon(acceptHostKey),
    import: soon(importRepository),
    /** Kept copies of followed repositories. */
    copies: {
      add: soon(addCopy),
      bringForward: soon(bringCopiesForward),
      pause: bind(pauseCopies),
      move: bind(moveCopy),
      end: bind(endCopy),
      /** Registers a function that returns the size limit of a copy. */
      limitBy: (allowanceOf: AllowanceOfCopy) => void (deps.copies.allowanceOf = allowanceOf),
    },
    /** Transfers of an import that has its own row and run; each returns what did not arrive. */
    bring: {
      refs: bind(bringRefs),
      lfs: bind(bringLfs),
      wiki: bind(bringWiki),
      releases: bind(bringReleases),
      forget: bind(forgetRefs),
      /** The same from local files. */
      fromFiles: {
        refs: bind(bringRefsFrom),
        lfs: bind(bringLfsFrom),
        wiki: bind(bringWikiFrom),
        releases: bind(bringReleasesFrom),
      },
    },
    /** The progress line of a running transfer. */
    progressOf: (repositoryId: string): string | null => deps.progress.get(repositoryId) ?? null,
    keysAt: bind(keysAt),
    repositoriesAt: bind(repositoriesAt),
    /** For `repositories.pushes.refuse`. */
    guard: refusePushesToMirrors,
    /** For `repositories.pushes.onPush`. */
    onPush: onPush(deps, wake),
    /** Called at start, with the instance lock held. */
    recover: bind(freeClaims),
    /** For the scheduled task: runs due mirrors, and waits for them. */
    runDue: () => runner.run(),
    async stop(): Promise<void> {
      await runner.stop();
      deps.outbound.close();
    },
  };
}

export type Mirrors = ReturnType<typeof createMirrors>;
