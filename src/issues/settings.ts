import type { Config } from '../config/index.ts';

export interface IssueModuleSettings {
  /** The public URL of this server, without a trailing slash: issue URLs in texts become references. */
  baseUrl: string | null;
  /** Time during which a deleted issue can be restored, in milliseconds. */
  trashKeptMs: number;
  /** Time limit per part of an entry listener, in milliseconds. */
  listenerTimeoutMs: number;
  /** Contributions of one user per minute and per hour, in all repositories without write access. */
  perPerson: RateLimit;
  /** Contributions of all non-members in one repository. */
  perRepository: RateLimit;
  /** Size limit of an issue attachment, in bytes. */
  attachmentBytes: number;
  /** Total size limit of a repository's issue attachments, in bytes. */
  attachmentsPerRepositoryBytes: number;
  /** Retention time of unused files, in milliseconds: a form may stay open for that long. */
  attachmentGraceMs: number;
}

/** Issues, comments and reactions; a change of state also counts. 0 means no limit. */
export interface RateLimit {
  perMinute: number;
  perHour: number;
}

const dayMs = 86_400_000;
const mebibyte = 1024 * 1024;

/**
 * Manual triage stays far below these; scripts that copy a tracker have an import instead. The repository limit is what
 * its members can review.
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

/** Current values of settings that an administrator may change. */
export const issueSettingsOf = (config: Pick<Config, 'issues'>): Partial<IssueModuleSettings> => ({
  attachmentBytes: config.issues.attachmentSizeBytes,
  attachmentsPerRepositoryBytes: config.issues.attachmentQuotaBytes,
  perPerson: { perMinute: config.issues.personRatePerMinute, perHour: config.issues.personRatePerHour },
  perRepository: { perMinute: config.issues.repositoryRatePerMinute, perHour: config.issues.repositoryRatePerHour },
});
