import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { Application, ApplicationOwner } from '../../oauth/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findById } from './find-by-id.ts';
import { findPerson } from './find-person.ts';
import { findOwner } from './find-owner.ts';

interface OwnerOption {
  owner: string;
}

const ownerFlag = ['--owner <name>', 'user, organisation, or instance', 'instance'] as const;

/** `hearth application …`: OAuth2 applications, and the access that users granted them. */
export function addApplicationCommands(program: Command, run: Run): void {
  const application = addNoun(
    program,
    'application',
    'OAuth2 applications, and applications that users have authorised',
  );
  withExamples(
    application
      .command('list')
      .description("list an owner's applications")
      .option(...ownerFlag)
      .action(run(listApplications)),
    'hearth application list',
    'hearth application list --owner acme',
  );
  withExamples(
    application
      .command('add')
      .alias('create')
      .description('add an application; the secret of a confidential application is printed once')
      .argument('<name>', 'name that users see when the application requests access')
      .option(...ownerFlag)
      .requiredOption('--redirect <address...>', 'redirect URL')
      .option('--public', "public client without a secret, installed on users' machines")
      .action(run(addApplication)),
    'SECRET=$(hearth application add CI --redirect https://ci.example.org/authorize)',
    'hearth application add notes --owner alice --public --redirect http://127.0.0.1',
  );
  withExamples(
    application
      .command('secret')
      .description("replace an application's secret and print the new one once")
      .argument('<id>', 'application id or its first characters')
      .option(...ownerFlag)
      .action(run(replaceSecret)),
    'hearth application secret 3f2a91c0',
  );
  withExamples(
    application
      .command('remove')
      .alias('delete')
      .description('remove an application; its tokens stop working immediately')
      .argument('<id>', 'application id or its first characters')
      .option(...ownerFlag)
      .option('--dry-run', 'only show what would be removed')
      .action(run(removeApplication)),
    'hearth application remove 3f2a91c0 --owner acme',
  );
  withExamples(
    application
      .command('grants')
      .description('list the applications that a user has authorised')
      .argument('<user>', 'username')
      .action(run(listGrants)),
    'hearth application grants alice',
  );
  withExamples(
    application
      .command('revoke')
      .description("revoke an application's access; its tokens stop working immediately")
      .argument('<user>', 'username')
      .argument('<id>', 'authorisation id or its first characters')
      .action(run(revokeGrant)),
    'hearth application revoke alice 3f2a91c0',
  );
}

/** Throws `owner_not_found`. "instance" is reserved as a handle. */
async function ownerNamed(modules: Modules, name: string): Promise<ApplicationOwner> {
  if (name === 'instance') return { kind: 'instance' };
  const owner = await findOwner(modules, name);
  return { kind: owner.kind === 'organisation' ? 'organisation' : 'user', id: owner.id };
}

const columns: Column<Application>[] = [
  { title: 'NAME', cell: (row) => row.name },
  { title: 'CLIENT ID', cell: (row) => row.clientId, whole: true },
  { title: 'SECRET', cell: (row) => (row.secretEnding === null ? 'public' : `…${row.secretEnding}`) },
  { title: 'REDIRECTS', cell: (row) => row.redirectUris.join(' ') },
  { title: 'ADDED', cell: (row) => never(row.createdAt) },
  { title: 'ID', cell: (row) => ({ id: row.id }) },
];

const toJson = ({ id, clientId, name, isConfidential, redirectUris, createdAt }: Application, owner: string) => ({
  id,
  clientId,
  owner,
  name,
  isConfidential,
  redirectUris,
  createdAt: isoOrNull(createdAt),
});

async function listApplications(cli: Cli, { owner }: OwnerOption): Promise<void> {
  const modules = await cli.openModules();
  const rows = await modules.oauth.applications.list(await ownerNamed(modules, owner));
  cli.output.list(rows, columns, ['application', 'applications'], (row) => toJson(row, owner));
}

async function addApplication(
  cli: Cli,
  { owner, redirect, public: isPublic = false }: OwnerOption & { redirect: string[]; public?: boolean },
  name: string,
): Promise<void> {
  const modules = await cli.openModules();
  const { application, secret } = await modules.oauth.applications.add(await ownerNamed(modules, owner), {
    name,
    redirectUris: redirect,
    isConfidential: !isPublic,
  });
  const shown = toJson(application, owner);
  const line = `Added ${application.name} for ${owner} with client id ${application.clientId}.`;
  if (secret === null) cli.output.result(line, shown);
  else cli.output.secret(secret, `${line} The secret is shown only once.`, { ...shown, clientSecret: secret });
}

async function applicationNamed(modules: Modules, ownerName: string, id: string) {
  const owner = await ownerNamed(modules, ownerName);
  const all = await modules.oauth.applications.list(owner);
  return { owner, application: findById(all, id, { what: 'application', reason: 'unknown_application' }) };
}

async function replaceSecret(cli: Cli, { owner: name }: OwnerOption, id: string): Promise<void> {
  const modules = await cli.openModules();
  const { owner, application } = await applicationNamed(modules, name, id);
  await cli.confirm(`Replace the secret of ${application.name}? The current secret stops working immediately.`);
  const secret = await modules.oauth.applications.replaceSecret(owner, application.id);
  const line = `Replaced the secret of the application ${application.name} of ${name}. The new secret is shown only once.`;
  cli.output.secret(secret, line, { ...toJson(application, name), clientSecret: secret });
}

async function removeApplication(
  cli: Cli,
  { owner: name, dryRun }: OwnerOption & { dryRun?: true },
  id: string,
): Promise<void> {
  const modules = await cli.openModules();
  const { owner, application } = await applicationNamed(modules, name, id);
  const what = `the application ${application.name} of ${name}`;
  if (dryRun) return cli.output.result(`Would remove ${what}.`, toJson(application, name));
  await cli.confirm(`Remove ${what}? Users can no longer sign in with it.`);
  await modules.oauth.applications.remove(owner, application.id);
  cli.output.result(`Removed ${what}.`, toJson(application, name));
}

type Grant = Awaited<ReturnType<Modules['oauth']['grants']['list']>>[number];

const grantColumns: Column<Grant>[] = [
  { title: 'APPLICATION', cell: (row) => row.application.name },
  { title: 'SCOPES', cell: (row) => row.scopes.join(' ') },
  { title: 'SINCE', cell: (row) => never(row.createdAt) },
  { title: 'ID', cell: (row) => ({ id: row.id }) },
];

const grantToJson = ({ id, application, scopes, createdAt }: Grant) => ({
  id,
  application: application.name,
  clientId: application.clientId,
  scopes,
  createdAt: isoOrNull(createdAt),
});

async function listGrants(cli: Cli, _options: object, user: string): Promise<void> {
  const modules = await cli.openModules();
  const rows = await modules.oauth.grants.list((await findPerson(modules, user)).id);
  cli.output.list(rows, grantColumns, ['grant', 'grants'], grantToJson);
}

async function revokeGrant(cli: Cli, _options: object, user: string, id: string): Promise<void> {
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const all = await modules.oauth.grants.list(person.id);
  const grant = findById(all, id, { what: 'grant', reason: 'unknown_grant' });
  await cli.confirm(`Revoke the access that ${user} granted to ${grant.application.name}?`);
  await modules.oauth.grants.revoke(person.id, grant.id);
  cli.output.result(`Revoked the access that ${user} granted to ${grant.application.name}.`, grantToJson(grant));
}
