import path from 'node:path';
import type { Config } from '../config/index.ts';
import { bindDeps, createSemaphore } from '../kernel/index.ts';
import { createOutbound, isAllowedHost } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import type { ImportDeps } from './deps.ts';
import { startFromFiles, tryFiles } from './from-files/start-from-files.ts';
import { findGroup, listGroups, runGroupAgain, startGroup } from './groups/manage-groups.ts';
import {
  endImport,
  findImport,
  isFollowing,
  listImports,
  listProblems,
  runAgain,
  startImport,
  tryImport,
} from './manage-imports.ts';
import { findLinkSource, resolveLinks } from './links/resolve-links.ts';
import { claimableFor, claimOwn, claimPeople, claimPerson, listPeople, unclaimPerson } from './people/claim-people.ts';
import { reencryptTokens } from './run/open-run.ts';
import { pokeImport } from './watch/poke-import.ts';
import { createImportRunner, freeClaims } from './run-due-imports.ts';

interface ImportsOptions extends Omit<ImportDeps, 'settings' | 'outbound' | 'key' | 'requests'> {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'dataDir' | 'mirrors'>;
  /** The instance key, which decrypts stored tokens. */
  keyFile: string;
  /** Shorter waits for tests. */
  retryMs?: readonly number[];
}

/** Limits of concurrent requests: per host and in total. */
const [perHost, together] = [4, 16];
/** Enough for a page of fifty issues with long texts from a slow server. */
const totalMs = 60_000;

/** Imports of repositories from other forges, with their issues and pull requests. The caller checks access. */
export function createImports({
  config: { baseUrl, caFile, dataDir, mirrors: settings },
  keyFile,
  retryMs = [500, 2_000, 8_000],
  ...tools
}: ImportsOptions) {
  // The allowed hosts of mirrors: imports also fetch from there.
  const isNamed = (url: URL): boolean => isAllowedHost(url, settings.allowedHosts);
  const deps: ImportDeps = {
    ...tools,
    outbound: createOutbound({
      isAllowed: () => true,
      devAllowInsecure: false,
      allowsPrivate: isNamed,
      allowsHttp: isNamed,
      mayUseSsh: () => false,
      baseUrl,
      caFile,
      limits: { totalMs, connectionsPerHost: perHost },
    }),
    key: new InstanceKey(keyFile, tools.random, 'imports'),
    requests: createSemaphore({ limit: together, limitPerKey: { host: perHost } }),
    settings: { folder: path.join(dataDir, 'imports'), baseUrl, isNamed, retryMs },
  };
  const runner = createImportRunner(deps);
  let isForServer = false;
  const wake = (): void => {
    if (isForServer) return;
    void runner.run().catch((error: unknown) => deps.logger.error('import.run_failed', { error }));
  };
  const bind = bindDeps(deps);
  /** Wraps use-cases that make an import due: it runs in the background. */
  const soon =
    <Rest extends unknown[], Result>(useCase: (deps: ImportDeps, ...rest: Rest) => Promise<Result>) =>
    async (...rest: Rest): Promise<Result> => {
      const result = await useCase(deps, ...rest);
      wake();
      return result;
    };

  return {
    start: soon(startImport),
    try: bind(tryImport),
    /** Imports from a local folder. */
    fromFiles: { start: soon(startFromFiles), try: bind(tryFiles) },
    find: bind(findImport),
    /** For `pulls.followedBy`. */
    isFollowing: bind(isFollowing),
    list: bind(listImports),
    problems: bind(listProblems),
    again: soon(runAgain),
    /** A webhook of the source tells that something has changed there. */
    poke: soon(pokeImport),
    end: bind(endImport),
    /** Accounts, organisations and whole servers. */
    groups: {
      start: soon(startGroup),
      find: bind(findGroup),
      list: bind(listGroups),
      again: soon(runGroupAgain),
    },
    people: {
      list: bind(listPeople),
      claim: bind(claimPerson),
      claimAll: bind(claimPeople),
      unclaim: bind(unclaimPerson),
      /** For a user: by the e-mail addresses verified here. */
      claimable: bind(claimableFor),
      claimOwn: bind(claimOwn),
    },
    /** Resolves URLs of the other forge in texts. */
    links: { sourceOf: bind(findLinkSource), resolve: bind(resolveLinks) },
    /** After a rotation of the instance key. */
    reencrypt: bind(reencryptTokens),
    /** At start, with the instance lock held. */
    recover: bind(freeClaims),
    /** For a command beside a running server: from now on, imports become due but do not run in this process. */
    leaveToServer: (): void => void (isForServer = true),
    /** Runs due imports in the background. */
    wake,
    /** For the scheduled task: runs due imports, and waits for them. */
    runDue: () => runner.run(),
    async stop(): Promise<void> {
      await runner.stop();
      deps.outbound.close();
    },
  };
}

export type Imports = ReturnType<typeof createImports>;
