// openIssues(t, {settings?}) → the modules up to issues on real SQLite and git, with alice, bob, carol and alice/roof
// (PUBLIC).
// at(number), roof → addresses.  timeline(issues, viewer, at) → the kinds of its entries.
import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import type { Viewer } from '../../src/access/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { createFolderStore } from '../../src/objects/index.ts';
import type { ObjectStore } from '../../src/objects/index.ts';
import { createIssues, issueEntities } from '../../src/issues/index.ts';
import type { IssueAt, IssueModuleSettings, Issues } from '../../src/issues/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openModules } from '../repositories/repositories-fixture.ts';
import type { TestModules } from '../repositories/repositories-fixture.ts';
import { shownTexts } from '../fixtures/shown-texts.ts';

export const roof = { owner: 'alice', name: 'roof' };
export const at = (number: number, name = 'roof'): IssueAt => ({ owner: 'alice', name, number });

export async function openIssues(t: Owner, { settings = {} }: { settings?: Partial<IssueModuleSettings> } = {}) {
  const modules = await openModules(t, { more: issueEntities as unknown as EntitySchema[] });
  await modules.repositories.create(modules.alice, { ...roof, visibility: 'PUBLIC' });
  const beside = (given: Partial<IssueModuleSettings> = settings): Issues => issuesOver(t, modules, given);
  return { ...modules, issues: beside(), beside };
}

export type IssueModules = Awaited<ReturnType<typeof openIssues>>;

/** One more instance of the module on the same data, as another process would have. */
export function issuesOver(t: Owner, modules: TestModules, settings: Partial<IssueModuleSettings> = {}): Issues {
  const issues = createIssues({
    ...modules,
    objects: objectsIn(modules),
    random: systemRandom,
    settings,
    sealExport: (sha256) => `sealed ${sha256}`,
    shownTexts,
  });
  t.teardown(() => issues.stop());
  return issues;
}

/** The store of attachments, in the test's folder. */
export const objectsIn = ({ folder, logger }: Pick<TestModules, 'folder' | 'logger'>): ObjectStore =>
  createFolderStore({
    directory: path.join(folder, 'objects'),
    lowDiskFloorBytes: () => 0,
    random: systemRandom,
    logger,
  });

export async function timeline(issues: Issues, viewer: Viewer, where: IssueAt): Promise<string[]> {
  return (await issues.listEntries(viewer, where)).entries.map(({ kind }) => kind);
}

export { anonymous } from '../../src/access/index.ts';
export { outcomes, push, reasonOf, sampleHistory, viewerOf } from '../repositories/repositories-fixture.ts';
