// `hearth org …` and changes of repositories, on one data folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const clock = fixedClock();

/** Opened once: opening is most of the time that a command takes. */
let opened: ReturnType<typeof realOpenModules> | undefined;
const openModules: typeof realOpenModules = async (config, options) => {
  opened ??= realOpenModules(config, options, 'always');
  return { ...(await opened), config, close: async () => {} };
};
t.teardown(async () => (await opened)?.close());

async function outputOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(words, {
    cwd: folder,
    clock,
    openModules,
    env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
  });
  const text = `${stdout}${stderr === '' ? '' : `[stderr] ${stderr}`}[${code}]`;
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

t.before(async () => {
  await runCli(['migrate'], { cwd: folder, env: { SERVICE_DATA_DIR: path.join(folder, 'data') } });
  for (const name of ['alice', 'bob'])
    await runCli(['user', 'add', name, '--random-password'], {
      cwd: folder,
      clock,
      openModules,
      env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
    });
});

t.test('org create, list, show and edit', async (t) => {
  t.match(
    await outputOf('org', 'create', 'acme', '--owner', 'nobody'),
    /no user has this username.*hearth user list.*\[2\]$/s,
  );
  t.equal(
    await outputOf('org', 'create', 'acme', '--owner', 'alice', '--display-name', 'Acme'),
    'Created organisation acme with the owner alice (id <id>).\n[0]',
  );
  t.match(await outputOf('org', 'create', 'Acme', '--owner', 'bob'), /already taken.*\[4\]$/s);
  t.match(
    await outputOf('org', 'create', 'ALICE', '--owner', 'bob'),
    /already taken.*\[4\]$/s,
    'one namespace with people',
  );
  t.equal(
    await outputOf('org', 'add', 'acme', '--owner', 'alice', '--if-missing'),
    'Organisation acme already exists.\n[0]',
  );
  t.match(await outputOf('org', 'add', 'acme', '--owner', 'bob', '--if-missing'), /bob does not own it.*\[4\]$/s);
  t.equal(await outputOf('org', 'list'), 'acme\tAcme\t1\t0\t<time>\n[0]');
  t.match(JSON.parse((await outputOf('org', 'list', '--json')).replace(/\[0\]$/, ''))[0], {
    name: 'acme',
    displayName: 'Acme',
    members: 1,
    repositories: 0,
  });
  t.equal(await outputOf('org', 'edit', 'acme', '--description', 'We make things'), 'Changed acme.\n[0]');
  await outputOf('repo', 'add', 'acme/anvil');
  t.match(
    await outputOf('org', 'show', 'acme'),
    /Description\tWe make things\n[^]*Owner\talice\nRepository\tacme\/anvil\n/,
  );
  t.match(await outputOf('org', 'show', 'nothing'), /organisation not found.*hearth org list.*\[3\]$/s);
});

t.test('org member add, role, remove; the last OWNER is refused (4)', async (t) => {
  t.equal(await outputOf('org', 'member', 'add', 'acme', 'bob', '--role', 'guest'), 'bob is now GUEST of acme.\n[0]');
  t.match(await outputOf('org', 'member', 'add', 'acme', 'bob', '--role', 'MEMBER'), /already a member.*\[4\]$/s);
  t.equal(await outputOf('org', 'member', 'role', 'acme', 'bob', 'member'), 'bob is now MEMBER of acme.\n[0]');
  t.equal(await outputOf('org', 'member', 'list', 'acme'), 'alice\tOWNER\t<time>\nbob\tMEMBER\t<time>\n[0]');
  for (const words of [
    ['role', 'acme', 'alice', 'GUEST'],
    ['remove', 'acme', 'alice'],
  ]) {
    t.match(await outputOf('org', 'member', ...words), /at least one owner.*org member role.*\[4\]$/s, words.join(' '));
  }
  t.equal(await outputOf('org', 'member', 'remove', 'acme', 'bob', '--dry-run'), 'Would remove bob from acme.\n[0]');
  t.match(await outputOf('org', 'member', 'remove', 'acme', 'nobody', '--dry-run'), /not a member of acme.*\[3\]$/s);
  t.equal(
    await outputOf('org', 'member', 'remove', 'acme', 'bob'),
    'Removed bob from acme. To add them again: hearth org member add acme bob --role ROLE\n[0]',
  );
  t.match(await outputOf('org', 'member', 'role', 'acme', 'bob', 'OWNER'), /no such member.*\[3\]$/s);
});

t.test('SPEC §3 org delete lists the repositories that prevent it (4)', async (t) => {
  t.match(await outputOf('org', 'delete', 'acme', '--yes'), /still owns acme\/anvil.*hearth repo transfer.*\[4\]$/s);
  t.match(await outputOf('org', 'delete', 'acme'), /requires confirmation.*\[2\]$/s);
});

t.test('repo edit, rename, transfer, archive and collaborators', async (t) => {
  t.equal(
    await outputOf('repo', 'edit', 'acme/anvil', '--public', '--description', 'Heavy'),
    'Changed acme/anvil.\n[0]',
  );
  t.match(await outputOf('repo', 'show', 'acme/anvil'), /Description\tHeavy\nVisibility\tpublic/);
  t.match(
    await outputOf('repo', 'rename', 'acme/anvil', 'hammer', '--dry-run'),
    /^Would rename acme\/anvil to acme\/hammer\./,
  );
  t.match(
    await outputOf('repo', 'transfer', 'acme/anvil', 'bob', '--dry-run'),
    /^Would transfer acme\/anvil to bob\/anvil\./,
  );
  t.match(await outputOf('repo', 'transfer', 'acme/anvil', 'nobody', '--dry-run'), /owner does not exist.*\[2\]$/s);
  t.match(
    await outputOf('repo', 'rename', 'acme/anvil', 'hammer'),
    /^Renamed acme\/anvil to acme\/hammer\. The old path redirects/,
  );
  t.match(await outputOf('repo', 'transfer', 'acme/hammer', 'Bob'), /^Transferred acme\/hammer to bob\/hammer\./);
  t.match(await outputOf('repo', 'transfer', 'bob/hammer', 'nobody'), /owner does not exist.*\[2\]$/s);
  t.match(await outputOf('repo', 'archive', 'bob/hammer'), /^Archived bob\/hammer/);
  t.match(await outputOf('repo', 'list'), /\tarchived\n/);
  t.match(await outputOf('repo', 'show', 'bob/hammer'), /\nAlso found at\tacme\/anvil, acme\/hammer\n/);
  t.match(await outputOf('repo', 'hooks', 'bob/hammer'), /^\[stderr\] Hearth never runs git hooks\./);
  const { repositories } = await opened!;
  const { path: bare } = await repositories.find(localAdministrator, 'bob', 'hammer');
  mkdirSync(path.join(bare, 'hooks'), { recursive: true });
  for (const name of ['post-receive', 'update.sample'])
    writeFileSync(path.join(bare, 'hooks', name), '#!/bin/sh\n', { mode: 0o755 });
  t.match(await outputOf('repo', 'hooks', 'bob/hammer'), /^post-receive\tno\tnever\n\[stderr\]/);
  t.match(
    await outputOf('repo', 'show', 'acme/anvil'),
    /acme\/anvil has moved to bob\/hammer\nhint: use bob\/hammer\n\[3\]$/,
    'where it went, without going there',
  );
  t.equal(await outputOf('repo', 'archive', 'bob/hammer', '--undo'), 'bob/hammer accepts pushes again.\n[0]');
  t.equal(
    await outputOf('repo', 'collaborator', 'add', 'bob/hammer', 'alice', '--role', 'write'),
    'alice now has the role write on bob/hammer.\n[0]',
  );
  t.match(
    await outputOf('repo', 'collaborator', 'add', 'bob/hammer', 'bob', '--role', 'write'),
    /owns this repository.*\[2\]$/s,
  );
  t.equal(
    await outputOf('repo', 'collaborator', 'role', 'bob/hammer', 'alice', 'admin'),
    'alice now has the role admin on bob/hammer.\n[0]',
  );
  t.equal(
    await outputOf('repo', 'collaborator', 'list', 'bob/hammer'),
    'alice\tadmin\tadmin\tcollaborator admin\t<time>\n[0]',
  );
  t.equal(
    await outputOf('repo', 'collaborator', 'remove', 'bob/hammer', 'alice', '--dry-run'),
    'Would remove alice from bob/hammer.\n[0]',
  );
  t.equal(
    await outputOf('repo', 'collaborator', 'remove', 'bob/hammer', 'alice'),
    'Removed alice from bob/hammer.\n[0]',
  );
  t.match(await outputOf('repo', 'collaborator', 'remove', 'bob/hammer', 'alice'), /no such collaborator.*\[3\]$/s);
  t.equal(
    await outputOf('org', 'edit', 'acme', '--rename', 'apex'),
    'Renamed acme to apex. The old name stays reserved and redirects.\n[0]',
  );
  t.equal(await outputOf('org', 'delete', 'apex', '--yes'), 'Deleted apex. Its name stays reserved.\n[0]');
});

t.test('user rename and delete, by the same rules as the page', async (t) => {
  await runCli(['user', 'add', 'dora', '--random-password'], {
    cwd: folder,
    clock,
    openModules,
    env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
  });
  t.equal(await outputOf('user', 'rename', 'dora', 'dorothy', '--dry-run'), 'Would rename dora to dorothy.\n[0]');
  t.match(await outputOf('user', 'rename', 'dora', 'alice'), /already taken|is taken.*\[4\]$/s);
  t.equal(
    await outputOf('user', 'rename', 'dora', 'dorothy'),
    'Renamed dora to dorothy. The old name stays reserved and redirects.\n[0]',
  );
  t.match(
    await outputOf('user', 'add', 'dora', '--random-password'),
    /taken.*\[4\]$/s,
    'nobody else gets the old name',
  );

  t.match(
    await outputOf('user', 'show', 'dora'),
    /dora has been renamed to dorothy\nhint: use the name dorothy\n\[3\]$/,
  );
  t.match(await outputOf('user', 'show', 'acme'), /acme is an organisation|no such person/);
  await outputOf('org', 'create', 'solo', '--owner', 'dorothy');
  t.match(await outputOf('user', 'delete', 'dorothy'), /requires confirmation.*\[2\]$/s);
  t.match(await outputOf('user', 'delete', 'dorothy', '--yes'), /only owner of solo.*hearth org member role.*\[4\]$/s);
  await outputOf('org', 'delete', 'solo', '--yes');
  await outputOf('repo', 'add', 'dorothy/work');
  t.match(await outputOf('user', 'delete', 'dorothy', '--yes'), /still owns work.*hearth repo transfer.*\[4\]$/s);
  await outputOf('repo', 'delete', 'dorothy/work', '--yes');
  t.equal(await outputOf('user', 'delete', 'dorothy', '--dry-run'), 'Would delete dorothy.\n[0]');
  t.equal(await outputOf('user', 'delete', 'dorothy', '--yes'), 'Deleted dorothy. The name stays reserved.\n[0]');
  t.match(await outputOf('user', 'show', 'dorothy'), /no such person.*\[3\]$/s);
});

t.test('released names are listed, and freed on request', async (t) => {
  t.match(
    await outputOf('handle', 'list'),
    /^acme\torganisation\tgone\t<time>\napex\torganisation\tgone\t<time>\ndora\tperson\tgone\t<time>\n/,
  );
  t.match(await outputOf('handle', 'free', 'alice', '--yes'), /another account now has this name.*\[4\]$/s);
  t.match(await outputOf('handle', 'free', 'nobody', '--yes'), /nobody is not reserved.*\[3\]$/s);
  t.equal(
    await outputOf('handle', 'free', 'Dora', '--dry-run'),
    'Would release dora, which is reserved for a person who is gone.\n[0]',
  );
  t.match(await outputOf('handle', 'free', 'dora'), /requires confirmation.*\[2\]$/s);
  t.equal(await outputOf('handle', 'free', 'dora', '--yes'), 'Released dora. It is now available to everyone.\n[0]');
  t.match(await outputOf('user', 'add', 'dora', '--random-password'), /\[0\]$/);
  await (await opened!).audit.flush();
  t.match(await outputOf('log', 'list'), /handle\.freed/);
});
