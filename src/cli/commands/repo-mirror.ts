import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { conflict, invalid, unavailable } from '../../kernel/index.ts';
import type { Mirror } from '../../mirrors/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { findRepository, splitName } from './find-repository.ts';
import { readKeyFile } from './read-key-line.ts';

/** `hearth repo import` and `hearth repo mirror …`: imports and mirrors. */
export function addRepoMirrorCommands(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('import')
      .description('import a repository from another server')
      .argument('<url>', 'https URL; also http, ssh://… and user@host:path for hosts in mirrors.allowed_hosts')
      .argument('<owner/name>', 'new repository')
      .option('--mirror', 'keep it in sync as a pull mirror')
      .option('--public', 'make it public')
      .option('--releases', 'also import releases with notes and files, from a forge over http or https')
      .option('--username <name>', 'username on the other server')
      .option('--secret-file <file>', 'file with the password or token')
      .option('--secret-stdin', 'read the password or token from standard input')
      .option('--key <file>', 'for SSH: Ed25519 private key that the other server accepts (default: a new key)')
      .action(run(importRepository)),
    'hearth repo import https://git.example.org/bob/tool.git alice/tool',
    'hearth repo import https://git.example.org/bob/tool.git alice/tool --mirror --releases',
    'hearth repo import ssh://git@git.example.lan:2222/bob/tool.git alice/tool --key ~/.ssh/id_ed25519',
  );
  const mirror = addNoun(repo, 'mirror', 'pull and push mirrors');
  const one = (name: string, description: string, action: Action<object, [string]>): void =>
    void withExamples(
      mirror.command(name).description(description).argument('<owner/name>', 'repository').action(run(action)),
      `hearth repo mirror ${name} alice/tool`,
    );
  withExamples(mirror.command('list').description('list mirrors').action(run(listMirrors)), 'hearth repo mirror list');
  one('show', 'show one mirror', showMirror);
  one('sync', 'sync a mirror now', syncMirror);
  one('pause', 'pause a mirror', pauseMirror);
  one('resume', 'resume a mirror', resumeMirror);
  withExamples(
    mirror
      .command('accept-host-key')
      .description("trust an SSH mirror's changed host key")
      .argument('<owner/name>', 'repository')
      .requiredOption('--fingerprint <text>', 'fingerprint of the key as published by the remote server: SHA256:…')
      .action(run(acceptHostKey)),
    'hearth repo mirror accept-host-key alice/tool --fingerprint SHA256:uNiVztksCsDhcc0u9e8BrrQXVUpKZIDTMczCvj3tD2s',
  );
}

interface Named extends Mirror {
  name: string;
}

const columns: Column<Named>[] = [
  { title: 'OWNER/NAME', cell: ({ name }) => name, whole: true },
  { title: 'DIRECTION', cell: ({ direction }) => direction },
  { title: 'ADDRESS', cell: ({ url }) => url },
  { title: 'STATE', cell: ({ state }) => state, whole: true },
  { title: 'LAST OK', cell: ({ lastOkAt }) => never(lastOkAt) },
  { title: 'NEXT', cell: ({ nextAt, isPaused }) => ({ epochMs: isPaused ? null : nextAt, otherwise: 'paused' }) },
  { title: 'ERROR', cell: ({ lastError }) => lastError ?? '' },
];

const toJson = ({
  name,
  direction,
  url,
  username,
  hasSecret,
  state,
  sshPublicKey,
  hostKeyFingerprint,
  offeredFingerprint,
  intervalMs,
  prune,
  withReleases,
  failures,
  lastError,
  lastStartedAt,
  lastOkAt,
  nextAt,
  isPaused,
}: Named): object => ({
  name,
  direction,
  address: url,
  username,
  hasSecret,
  state,
  publicKey: sshPublicKey,
  hostKeyFingerprint,
  offeredHostKeyFingerprint: offeredFingerprint,
  intervalMs,
  prune,
  releases: withReleases,
  failures,
  lastError,
  lastStartedAt: isoOrNull(lastStartedAt),
  lastOkAt: isoOrNull(lastOkAt),
  nextAt: isPaused ? null : isoOrNull(nextAt),
});

const listMirrors: Action<object, []> = async (cli) => {
  const { mirrors, repositories } = await cli.openModules();
  const rows = await mirrors.list();
  const located = await repositories.locate(rows.map(({ repositoryId }) => repositoryId));
  const named = rows.flatMap((row): Named[] => {
    const at = located.get(row.repositoryId);
    return at === undefined ? [] : [{ ...row, name: `${at.owner.handle}/${at.repository.name}` }];
  });
  cli.output.list(named, columns, ['mirror', 'mirrors'], toJson);
};

async function find(cli: Cli, text: string) {
  const modules = await cli.openModules();
  const { repository, canonical } = await findRepository(modules, text);
  const mirror = await modules.mirrors.find(repository.id);
  const name = `${canonical.owner}/${canonical.name}`;
  if (mirror === null) throw conflict('no_mirror', `${name} is not a mirror.`);
  return { modules, id: repository.id, name, mirror: { ...mirror, name } satisfies Named };
}

const showMirror: Action<object, [string]> = async (cli, _options, text) => {
  const { mirror } = await find(cli, text);
  cli.output.show(
    [
      ['Repository', mirror.name],
      ['Direction', mirror.direction],
      ['Address', mirror.url],
      ...(mirror.sshPublicKey === null
        ? ([
            ['User name', mirror.username],
            ['Secret', mirror.hasSecret ? 'kept sealed' : 'none'],
          ] as [string, string][])
        : ([
            ['Public key', mirror.sshPublicKey],
            ['Host key', mirror.hostKeyFingerprint ?? ''],
            ...(mirror.offeredFingerprint === null ? [] : [['Shown by now', mirror.offeredFingerprint]]),
          ] as [string, string][])),
      ['State', mirror.state],
      ['Last ok', never(mirror.lastOkAt)],
      ['Next', { epochMs: mirror.isPaused ? null : mirror.nextAt, otherwise: 'paused' }],
      ['Error', mirror.lastError ?? ''],
    ],
    toJson(mirror),
  );
};

/** Runs here until it ends; a running server and this process never sync one mirror at the same time. */
const syncMirror: Action<object, [string]> = async (cli, _options, text) => {
  const { modules, id, name } = await find(cli, text);
  await modules.mirrors.sync(id);
  const after = await waitFor(cli, modules, id, name);
  if (after?.lastError != null) throw unavailable('mirror_failed', `${name}: ${after.lastError}`);
  cli.output.result(`${name} is up to date.`, { name, lastOkAt: isoOrNull(after?.lastOkAt ?? null) });
};

async function waitFor(
  cli: Cli,
  { mirrors }: Awaited<ReturnType<Cli['openModules']>>,
  id: string,
  item: string,
): Promise<Mirror | null> {
  const shown = showProgress(cli);
  const look = setInterval(() => {
    void mirrors.find(id).then(
      (mirror) => {
        const [, share, what] = /(\d+)%.*?(\(.*?\))?/.exec(mirror?.progress ?? '') ?? [];
        if (share !== undefined) shown.step({ done: Number(share), total: 100, item: what ?? item });
      },
      () => {},
    );
  }, 500);
  try {
    await mirrors.runDue();
  } finally {
    clearInterval(look);
    shown.end();
  }
  return mirrors.find(id);
}

const pauseMirror: Action<object, [string]> = async (cli, _options, text) => {
  const { modules, id, name } = await find(cli, text);
  await modules.mirrors.setPaused(localAdministrator, id, true);
  cli.output.result(`${name} is paused. To resume it: hearth repo mirror resume ${name}`, { name, state: 'paused' });
};

const resumeMirror: Action<object, [string]> = async (cli, _options, text) => {
  const { modules, id, name } = await find(cli, text);
  await modules.mirrors.setPaused(localAdministrator, id, false);
  await modules.mirrors.runDue();
  const { state } = (await modules.mirrors.find(id))!;
  cli.output.result(`Resumed ${name}: ${state}.`, { name, state });
};

const acceptHostKey: Action<{ fingerprint: string }, [string]> = async (cli, { fingerprint }, text) => {
  const { modules, id, name } = await find(cli, text);
  await modules.mirrors.acceptHostKey(localAdministrator, id, fingerprint);
  await modules.mirrors.runDue();
  const { state, hostKeyFingerprint } = (await modules.mirrors.find(id))!;
  cli.output.result(`${name} now trusts ${hostKeyFingerprint}: ${state}.`, { name, hostKeyFingerprint, state });
};

interface ImportOptions {
  mirror?: true;
  public?: true;
  releases?: true;
  username?: string;
  secretFile?: string;
  secretStdin?: true;
  key?: string;
}

const importRepository: Action<ImportOptions, [string, string]> = async (
  cli,
  { mirror, username, key, ...options },
  address,
  text,
) => {
  const { owner, name } = splitName(text);
  if (!/^(?:https?|ssh):\/\/|^[^/:@]+@[^/]+:/.test(address))
    throw invalid('usage', 'Enter the https or SSH URL of a repository.');
  const sshKey = key === undefined ? undefined : readKeyFile(cli, key);
  const modules = await cli.openModules();
  const secret = options.secretFile === undefined && !options.secretStdin ? undefined : await readSecret(cli, options);
  const { id } = await modules.mirrors.import(localAdministrator, {
    owner,
    name,
    visibility: options.public ? 'PUBLIC' : 'PRIVATE',
    address,
    username,
    secret,
    sshKey,
    keepMirroring: mirror === true,
    withReleases: options.releases === true,
  });
  const made = (await modules.mirrors.find(id))!;
  if (made.isWaitingForKey) return printKey(cli, text, made);
  const after = await waitFor(cli, modules, id, text);
  const { path: folder, canonical } = await findRepository(modules, text);
  const refs = (await modules.git.refs.list(folder)).size;
  if (after?.lastError != null)
    throw withHint(
      unavailable(
        'mirror_failed',
        `${text} exists, but is ${refs === 0 ? 'still empty' : 'incomplete'}: ${after.lastError}`,
      ),
      `hearth repo mirror sync ${text} tries again`,
    );
  cli.output.result(
    `Imported ${canonical.owner}/${canonical.name}: ${refs} branches and tags${mirror ? '; it stays in sync' : ''}.`,
    { ...canonical, refs, isMirror: mirror === true },
  );
};

function printKey(cli: Cli, name: string, { host, sshPublicKey, hostKeyFingerprint, state }: Mirror): void {
  cli.output.result(`Created the empty repository ${name}. Add its public key on ${host}:\n\n${sshPublicKey}\n`, {
    name,
    state,
    publicKey: sshPublicKey,
    hostKeyFingerprint,
  });
  cli.output.message(`${host} presents the host key ${hostKeyFingerprint}, which is now trusted.`);
  cli.output.message(`After adding the key, run: hearth repo mirror sync ${name}`);
}
