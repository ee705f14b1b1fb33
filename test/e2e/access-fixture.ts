// accessWorld(t) → a running Hearth with four repositories (of a person and of an organisation, public and private),
// people with every kind of grant on them, and words that no person without a grant may ever read.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ownsRepository, repositoryLevel } from '../../src/access/index.ts';
import type {
  CollaboratorRole,
  Level,
  OrganisationRole,
  PersonViewer,
  RepositoryFacts,
  Scope,
  Viewer,
  Visibility,
} from '../../src/access/index.ts';
import type { Needed } from '../../src/repositories/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';
import { sampleImages } from '../images/sample-images.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

export interface Principal {
  name: string;
  /** `null`: signed out. */
  id: string | null;
  session: string | null;
  tokens: Partial<Record<Scope, string>>;
  isAdministrator: boolean;
  organisationRole: OrganisationRole | null;
  collaboratorRole: CollaboratorRole | null;
  /** By a team of the organisation. */
  teamRole: CollaboratorRole | null;
  privateKey: string | null;
}

export interface TestRepository {
  owner: string;
  name: string;
  visibility: Visibility;
  id: string;
  ownerKind: 'person' | 'organisation';
  head: string;
  /** Words that occur in this repository only. */
  canaries: string[];
}

export interface AccessFixture {
  hearth: Hearth;
  principals: Principal[];
  testRepositories: TestRepository[];
  /** The level of a person by the policy, with a credential of this scope. */
  levelOf(who: Principal, place: TestRepository, scope?: Scope): Level;
  may(who: Principal, place: TestRepository, needed: Needed, scope?: Scope): boolean;
}

const people: [name: string, more: Partial<Principal>][] = [
  ['non-member', {}],
  ['reader', { collaboratorRole: 'read' }],
  ['writer', { collaboratorRole: 'write' }],
  ['keeper', { collaboratorRole: 'admin' }],
  ['guest', { organisationRole: 'GUEST' }],
  ['member', { organisationRole: 'MEMBER' }],
  ['teammate', { teamRole: 'write' }],
  ['creator', { organisationRole: 'OWNER' }],
  ['maker', {}],
  ['root-admin', { isAdministrator: true }],
];

const anonymous: Principal = {
  name: 'anonymous',
  id: null,
  session: null,
  tokens: {},
  isAdministrator: false,
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  privateKey: null,
};

export async function startAccessFixture(t: Owner): Promise<AccessFixture> {
  const hearth = await startHearth(t);
  const { accounts, organisations, repositories } = hearth.modules;
  const principals: Principal[] = [anonymous];
  for (const [name, more] of people) {
    const { id } = await accounts.addPerson({ username: name, isAdministrator: more.isAdministrator ?? false });
    const { secret: session } = await accounts.startSession(id, { address: '127.0.0.1', userAgent: 'test' });
    const tokens: Principal['tokens'] = {};
    for (const access of ['read', 'write', 'admin'] as const) {
      tokens[access] = (
        await accounts.addToken(id, { name: access, access, repositoryIds: null, expiresAt: null })
      ).secret;
    }
    const file = path.join(hearth.folder, `key-${name}`);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
    await accounts.addKey(id, { title: 'test', line: readFileSync(`${file}.pub`, 'utf8') });
    principals.push({ ...anonymous, name, id, session, tokens, privateKey: readFileSync(file, 'utf8'), ...more });
  }
  const byName = new Map(principals.map((each) => [each.name, each]));
  const viewerOf = ({ id, name, isAdministrator }: Principal, scope: Scope = 'admin'): Viewer =>
    id === null
      ? { kind: 'anonymous' }
      : ({
          kind: 'person',
          id,
          username: name,
          isAdministrator,
          via: 'session',
          scope,
          repositoryIds: null,
        } satisfies PersonViewer);
  const maker = viewerOf(byName.get('maker')!);
  const creator = viewerOf(byName.get('creator')!);

  const { id: organisationId } = await organisations.create(creator, { name: 'guild' });
  for (const { name, organisationRole } of principals) {
    if (organisationRole !== null && name !== 'creator')
      await organisations.addMember(creator, 'guild', { username: name, role: organisationRole });
  }
  const places: TestRepository[] = [];
  for (const owner of ['maker', 'guild']) {
    for (const visibility of ['PUBLIC', 'PRIVATE'] as const)
      places.push(await makePlace(hearth, owner, visibility, owner === 'maker' ? maker : creator));
  }
  for (const { owner, name } of places) {
    for (const { name: username, collaboratorRole: role } of principals) {
      if (role !== null)
        await repositories.collaborators.add(owner === 'maker' ? maker : creator, owner, name, { username, role });
    }
  }

  const team = { organisation: 'guild', name: 'builders' };
  await organisations.teams.create(creator, 'guild', { name: 'builders', role: 'write' });
  for (const { owner, name } of places)
    if (owner === 'guild') await repositories.teams.setRole(creator, team, { owner, name }, null);
  for (const { name, teamRole } of principals)
    if (teamRole !== null) await organisations.teams.addMember(creator, team, name);

  /** Defined by this fixture alone, so that expectations are independent of the tested code. */
  const factsOf = (who: Principal, { id, visibility, ownerKind }: TestRepository): RepositoryFacts => ({
    id,
    visibility,
    ownerUserId: ownerKind === 'person' ? byName.get('maker')!.id : null,
    ownerOrganisationId: ownerKind === 'organisation' ? organisationId : null,
    organisationRole: ownerKind === 'organisation' ? who.organisationRole : null,
    collaboratorRole: who.collaboratorRole,
    teamRole: ownerKind === 'organisation' ? who.teamRole : null,
    deleted: false,
  });
  const order: Level[] = ['none', 'read', 'write', 'admin'];
  const levelOf: AccessFixture['levelOf'] = (who, place, scope) =>
    repositoryLevel(viewerOf(who, scope), factsOf(who, place));
  const may: AccessFixture['may'] = (who, place, needed, scope) =>
    needed === 'owner'
      ? ownsRepository(viewerOf(who, scope), factsOf(who, place))
      : order.indexOf(levelOf(who, place, scope)) >= order.indexOf(needed);
  return { hearth, principals, testRepositories: places, levelOf, may };
}

async function makePlace(
  { modules, folder }: Hearth,
  owner: string,
  visibility: Visibility,
  viewer: Viewer,
): Promise<TestRepository> {
  const name = `${visibility.toLowerCase()}-${owner}`;
  const word = `canary${visibility === 'PRIVATE' ? 'dark' : 'light'}${owner}`;
  const { id } = await modules.repositories.create(viewer, {
    owner,
    name,
    visibility,
    description: `${word}description`,
  });
  const { path: bare } = await modules.repositories.find(viewer, owner, name);
  const work = path.join(folder, `work-${name}`);
  mkdirSync(work);
  writeFileSync(path.join(work, 'README.md'), `# ${word}readme\n`);
  writeFileSync(path.join(work, `${word}file.txt`), `${word}content\n`);
  const git = (...args: string[]) => runGit(args, { cwd: work });
  await git('init', '--quiet', '-b', 'main');
  await git('add', '.');
  await git('commit', '--quiet', '-m', `${word}message`);
  await git('tag', `${word}tag`);
  await git('push', '--quiet', bare, 'main', `main:${word}branch`, '--tags');
  await modules.repositories.images.replace(viewer, owner, name, {
    declaredType: 'image/png',
    bytes: sampleImages['image/png'],
  });
  const at = { owner, name };
  await modules.releases.create(viewer, at, { tag: 'v1.0', title: `${word}release`, body: `${word}notes` });
  await modules.releases.files.upload(
    viewer,
    at,
    { tag: 'v1.0' },
    {
      name: 'notes.txt',
      content: (async function* () {
        yield Buffer.from(`${word}asset`);
      })(),
    },
  );
  return {
    owner,
    name,
    visibility,
    id,
    ownerKind: owner === 'maker' ? 'person' : 'organisation',
    head: (await git('rev-parse', 'HEAD')).trim(),
    canaries: ['description', 'readme', 'file', 'content', 'message', 'tag', 'branch', 'release', 'notes', 'asset'].map(
      (what) => word + what,
    ),
  };
}
