import type { Config } from '../config/index.ts';

export interface IssueModuleSettings {
  /** The public address of this server, without a slash at its end: addresses of issues in texts are references. */
  baseUrl: string | null;
  /** How long a deleted issue can be had back, in milliseconds. */
  trashKeptMs: number;
  /** How long a listener of entries may take for each of its parts, in milliseconds. */
  listenerTimeoutMs: number;
  /** What one person may write in a minute and in an hour, everywhere; not in repositories they may write to. */
  perPerson: RateLimit;
  /** What all those who are no members may write in one repository. */
  perRepository: RateLimit;
  /** The largest file of an issue, in bytes. */
  attachmentBytes: number;
  /** All files of a repository's issues together, in bytes. */
  attachmentsPerRepositoryBytes: number;
  /** How long a file stays that no text shows, in milliseconds: a form may be open for so long. */
  attachmentGraceMs: number;
}

/** Issues, comments and reactions; a change of state counts as one, too. 0 is no limit. */
export interface RateLimit {
  perMinute: number;
  perHour: number;
}

const dayMs = 86_400_000;
const mebibyte = 1024 * 1024;

/**
 * A person who triages manually stays far below these; a script that copies a tracker has an import instead. The
 * limit of a repository is what its members can look through.
 */
export const defaultIssueSettings: IssueModuleSettings = {
  baseUrl: null,
  trashKeptMs: 30 * dayMs,
  listenerTimeoutMs: 60_000,
  perPerson: { perMinute: 60, perHour: 600 },
  perRepository: { perMinute: 120, perHour: 1_200 },
  attachmentBytes: 10 * mebibyte,
  attachmentsPerRepositoryBytes: 1024 * mebibyte,
  attachmentGraceMs: dayMs,
};

/** What an administrator may change, as it is at the moment. */
export const issueSettingsOf = (config: Pick<Config, 'issues'>): Partial<IssueModuleSettings> => ({
  attachmentBytes: config.issues.attachmentSizeBytes,
  attachmentsPerRepositoryBytes: config.issues.attachmentQuotaBytes,
  perPerson: { perMinute: config.issues.personRatePerMinute, perHour: config.issues.personRatePerHour },
  perRepository: { perMinute: config.issues.repositoryRatePerMinute, perHour: config.issues.repositoryRatePerHour },
});
