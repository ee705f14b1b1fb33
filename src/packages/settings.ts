import type { Visibility } from '../access/index.ts';
import type { Config } from '../config/index.ts';

/** Settings for administrators. */
export interface PackageSettings {
  enabled: boolean;
  maxFileBytes: number;
  /** Total size of all files of one owner. */
  ownerQuotaBytes: number;
  /** Visibility of new packages without a linked repository. */
  defaultVisibility: Visibility;
  /** Time during which a deleted version can be restored. */
  trashKeptMs: number;
  /** Time during which uploaded content is kept without a version: longer than any push takes. */
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
