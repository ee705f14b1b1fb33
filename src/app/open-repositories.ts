import path from 'node:path';
import { ciSettings, createCi } from '../ci/index.ts';
import type { Git } from '../git/index.ts';
import { createIssues, issueSettingsOf } from '../issues/index.ts';
import { createLfs, lfsSettingsOf } from '../lfs/index.ts';
import { createPackages, packageSettingsOf } from '../packages/index.ts';
import { createPulls } from '../pulls/index.ts';
import { createReleases, releaseSettingsOf } from '../releases/index.ts';
import { createRepositories, isDiskLow, repositorySettings } from '../repositories/index.ts';
import { createCodeSearch } from '../search/index.ts';
import type { People } from './open-people.ts';
import type { Storage } from './open-storage.ts';

/** Repositories and their features: CI, LFS, issues, pull requests, releases, code search. */
export function openRepositories(storage: Storage, people: People, git: Git) {
  const { config, instanceKey, keyFile } = storage;
  const { baseUrl, search } = config;
  const { lowDiskFloorBytes } = config.storage;
  const { signCommit } = people.signing;
  const base = { ...storage, ...people, git };
  const repositories = createRepositories({
    ...base,
    images: storage.imagesOf('repositories'),
    trashedImages: storage.imagesOf('trash'),
    settings: repositorySettings(config),
    signCommit,
  });
  const ci = createCi({ ...base, repositories, settings: ciSettings(config, keyFile) });
  const lfs = createLfs({ ...base, repositories, instanceKey: instanceKey('lfs'), settings: lfsSettingsOf(config) });
  const packages = createPackages({ ...base, repositories, settings: packageSettingsOf(config) });
  const exportKey = instanceKey('issues');
  const issues = createIssues({
    ...base,
    repositories,
    texts: storage.issueIndex,
    settings: { ...issueSettingsOf(config), baseUrl },
    sealExport: (sha256) => exportKey.digest('export', sha256),
    // A command that writes no text does not load the pages.
    shownTexts: async (document) => (await import('../pages/index.ts')).shownTextsOf(storage, document),
  });
  const pulls = createPulls({
    ...base,
    repositories,
    issues,
    signCommit,
    baseUrl,
    contributedPushBytes: config.pulls.contributedPushSizeBytes,
    queueTimeoutMs: config.pulls.queueTimeoutMs,
    contributedBytes: config.pulls.contributedSizeBytes,
    isDiskLow: (folder) => isDiskLow(folder, lowDiskFloorBytes),
  });
  const releases = createReleases({ ...base, repositories, pulls, settings: releaseSettingsOf(config) });
  const codeSearch = createCodeSearch({
    ...base,
    repositories,
    folder: path.join(config.dataDir, 'cache'),
    limits: { budgetBytes: search.codeIndexBudgetBytes, repositoryBytes: search.codeRepositoryLimitBytes },
    lowDiskFloorBytes,
  });
  return { git, repositories, ci, lfs, packages, issues, pulls, releases, codeSearch };
}

export type Code = ReturnType<typeof openRepositories>;
