import type { Visibility } from '../access/index.ts';
import type { Config } from '../config/index.ts';

/** What an administrator may change. */
export interface PackageSettings {
  enabled: boolean;
  maxFileBytes: number;
  /** All files of one owner together. */
  ownerQuotaBytes: number;
  /** Of packages that follow no repository when they are made. */
  defaultVisibility: Visibility;
  /** How long a deleted version can be restored. */
  trashKeptMs: number;
  /** How long what an upload has brought is kept that no version names: longer than any push takes. */
  uploadGraceMs: number;
}

export const packageSettingsOf = (config: Pick<Config, 'packages' | 'repositories'>): PackageSettings => ({
  enabled: config.packages.enabled,
  maxFileBytes: config.packages.maxFileSizeBytes,
  ownerQuotaBytes: config.packages.ownerQuotaBytes,
  defaultVisibility: config.packages.defaultVisibility === 'public' ? 'PUBLIC' : 'PRIVATE',
  trashKeptMs: config.repositories.trashKeepMs,
  uploadGraceMs: 86_400_000,
});
