// issueWeb(t, {files?}) → the web server with alice, who owns alice/roof (PUBLIC), carol, who writes there, and bob,
// who only reads: {web, issues, repositories, alice, bob, carol, anonymous, viewers, at(number)}.
import type { PersonViewer } from '../../../src/access/index.ts';
import type { IssueAt } from '../../../src/issues/index.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

export const viewerOf = (id: string, username: string): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

export const roofUrl = '/repos/alice/roof';

export async function issueWeb(t: Owner, { files }: { files?: Record<string, string | Buffer> } = {}) {
  const web = await startWeb(t);
  const { issues, repositories } = web.modules;
  const [alice, bob, carol] = [await signedIn(web, 'alice'), await signedIn(web, 'bob'), await signedIn(web, 'carol')];
  const viewers = {
    alice: viewerOf(alice.id, 'alice'),
    bob: viewerOf(bob.id, 'bob'),
    carol: viewerOf(carol.id, 'carol'),
  };
  await repositories.create(viewers.alice, { name: 'roof', visibility: 'PUBLIC' });
  await repositories.collaborators.add(viewers.alice, 'alice', 'roof', { username: 'carol', role: 'write' });
  if (files !== undefined)
    await fillRepository(t, (await repositories.find(viewers.alice, 'alice', 'roof')).path, files);
  const at = (number: number): IssueAt => ({ owner: 'alice', name: 'roof', number });
  return { web, issues, repositories, alice, bob, carol, anonymous: visitor(web), viewers, at };
}

export type IssueWeb = Awaited<ReturnType<typeof issueWeb>>;

/** The page without tags, for sentences that go over several of them. */
export const words = ({ body }: PageResponse): string =>
  (/<main[^]*<\/main>/.exec(body)?.[0] ?? '')
    .replace(/<[^>]*>/g, ' ')
    .replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_all, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
    )
    .replace(/\s+/g, ' ');
