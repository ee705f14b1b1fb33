import type { Config } from '../config/index.ts';

export interface ReleaseSettings {
  /** The public URL of this server without a trailing slash. */
  baseUrl: string | null;
  /** Size limits in bytes of one file, of all files of a repository, and of those of an owner. */
  fileBytes: number;
  filesPerRepositoryBytes: number;
  filesPerOwnerBytes: number;
  /** Age in milliseconds at which a job removes an object without a row: longer than any upload. */
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
