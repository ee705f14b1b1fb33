import type { Config } from '../config/index.ts';

export interface ReleaseSettings {
  /** The public address of this server, without a slash at its end. */
  baseUrl: string | null;
  /** The largest file, all files of a repository, and those of an owner, in bytes. */
  fileBytes: number;
  filesPerRepositoryBytes: number;
  filesPerOwnerBytes: number;
  /** How old an object without a row is before a job removes it, in milliseconds: longer than any upload. */
  uploadGraceMs: number;
}

const gibibyte = 1024 ** 3;

export const defaultReleaseSettings: ReleaseSettings = {
  baseUrl: null,
  fileBytes: 2 * gibibyte,
  filesPerRepositoryBytes: 20 * gibibyte,
  filesPerOwnerBytes: 100 * gibibyte,
  uploadGraceMs: 86_400_000,
};

export const releaseSettingsOf = (config: Pick<Config, 'releases' | 'baseUrl'>): Partial<ReleaseSettings> => ({
  baseUrl: config.baseUrl,
  fileBytes: config.releases.fileSizeBytes,
  filesPerRepositoryBytes: config.releases.repositoryQuotaBytes,
  filesPerOwnerBytes: config.releases.ownerQuotaBytes,
});
