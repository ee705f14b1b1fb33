import { checkCi } from './checks/ci.ts';
import { checkClock } from './checks/clock.ts';
import { checkDatabase } from './checks/database.ts';
import { checkImages } from './checks/images.ts';
import { checkIssues } from './checks/issues.ts';
import { checkLfs } from './checks/lfs.ts';
import { checkMail } from './checks/mail.ts';
import { checkStore } from './checks/objects.ts';
import { checkNodes } from './checks/nodes.ts';
import { checkNames } from './checks/names.ts';
import { checkNotifications } from './checks/notifications.ts';
import { checkPulls } from './checks/pulls.ts';
import { checkReleases } from './checks/releases.ts';
import { checkQueues } from './checks/queues.ts';
import { checkRepositories } from './checks/repositories.ts';
import { checkBackups } from './checks/backups.ts';
import { checkSettings } from './checks/settings.ts';
import { checkSingleSignOn } from './checks/single-sign-on.ts';
import { checkStorage } from './checks/storage.ts';
import { isDamagedDatabase } from '../kernel/index.ts';
import { problem } from './check-result.ts';
import type { GroupReport } from './check-result.ts';
import type { CheckGroup, DoctorDeps, OnProgress } from './deps.ts';
import { knownDamage } from './integrity/integrity-records.ts';
import type { IntegrityRecord } from './integrity/integrity-records.ts';

/** Every check group, in the order of the report. */
const areas: Readonly<Record<string, CheckGroup>> = {
  settings: checkSettings,
  clock: checkClock,
  database: checkDatabase,
  nodes: checkNodes,
  storage: checkStorage,
  names: checkNames,
  repositories: checkRepositories,
  images: checkImages,
  objects: checkStore,
  issues: checkIssues,
  lfs: checkLfs,
  pulls: checkPulls,
  releases: checkReleases,
  notifications: checkNotifications,
  ci: checkCi,
  queues: checkQueues,
  mail: checkMail,
  'single-sign-on': checkSingleSignOn,
  safety: checkBackups,
};

export const groupNames: readonly string[] = Object.keys(areas);

/** Checks an instance, even while its server is running. */
interface Doctor {
  /**
   * @param only one check group; all if omitted
   */
  examine(only?: string, options?: ExamineOptions): AsyncGenerator<GroupReport>;
}

interface ExamineOptions {
  /** Reads every object of every repository and every stored file, however long that takes. */
  isDeep?: boolean;
  onProgress?: OnProgress;
}

export function createDoctor(deps: DoctorDeps): Doctor {
  return {
    async *examine(only, { isDeep = false, onProgress = () => {} } = {}) {
      const thread = deps.db.openThread({ requestMs: 3_600_000, queue: 16 });
      try {
        const damage = await knownDamage(deps.db).catch(() => new Map<string, IntegrityRecord>());
        for (const [name, area] of Object.entries(areas)) {
          if (only !== undefined && only !== name) continue;
          // A group that fails is reported as a result, and the others still run.
          yield await area({ ...deps, thread, now: deps.clock.now(), isDeep, damage, onProgress }).catch(
            (error: Error) => ({
              area: name,
              findings: [problem(`${name}.unreadable`, `This could not be checked: ${error.message}`, remedyOf(error))],
              summary: '',
            }),
          );
        }
      } finally {
        await thread.close();
      }
    },
  };
}

/** Writes to a corrupt database may be lost or cause further corruption. */
const remedyOf = (error: Error): { remedy?: string } =>
  isDamagedDatabase(error)
    ? { remedy: 'stop the server to prevent further writes; then run hearth backup list and hearth restore BACKUP' }
    : {};
