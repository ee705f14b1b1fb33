import type { Config } from '../config/index.ts';

/** What an administrator may change, as it is at the moment. */
export interface LfsSettings {
  enabled: boolean;
  maxObjectSizeBytes: number;
  repositoryQuotaBytes: number;
  ownerQuotaBytes: number;
  keepUnreferencedMs: number;
  /** What a person may upload to a repository in all who may only propose changes to it, in bytes. */
  contributedBytes: number;
}

export const lfsSettingsOf = (config: Pick<Config, 'lfs' | 'pulls'>): LfsSettings => ({
  ...config.lfs,
  contributedBytes: config.pulls.contributedPushSizeBytes,
});
