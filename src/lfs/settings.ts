import type { Config } from '../config/index.ts';

/** Current values of the settings that an administrator may change. */
export interface LfsSettings {
  enabled: boolean;
  maxObjectSizeBytes: number;
  repositoryQuotaBytes: number;
  ownerQuotaBytes: number;
  keepUnreferencedMs: number;
  /** Upload limit in bytes per user and repository, for users who may only propose changes to it. */
  contributedBytes: number;
}

export const lfsSettingsOf = (config: Pick<Config, 'lfs' | 'pulls'>): LfsSettings => ({
  ...config.lfs,
  contributedBytes: config.pulls.contributedPushSizeBytes,
});
