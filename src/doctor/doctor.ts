import { examineCi } from './checks/ci.ts';
import { examineDatabase } from './checks/database.ts';
import { examineImages } from './checks/images.ts';
import { examineQueues } from './checks/queues.ts';
import { examineRepositories } from './checks/repositories.ts';
import { examineSafety } from './checks/safety.ts';
import { examineSettings } from './checks/settings.ts';
import { examineStorage } from './checks/storage.ts';
import { problem } from './finding.ts';
import type { AreaReport } from './finding.ts';
import type { Area, DoctorRoom } from './room.ts';

/** Every area, in the order of the report. */
const areas: Readonly<Record<string, Area>> = {
  settings: examineSettings,
  database: examineDatabase,
  storage: examineStorage,
  repositories: examineRepositories,
  images: examineImages,
  ci: examineCi,
  queues: examineQueues,
  safety: examineSafety,
};

export const areaNames: readonly string[] = Object.keys(areas);

/** Looks for what is wrong with an instance, also beside its running server. */
export interface Doctor {
  /** @param only one area; all when left out */
  examine(only?: string): AsyncGenerator<AreaReport>;
}

export function createDoctor(room: DoctorRoom): Doctor {
  return {
    async *examine(only) {
      const aside = room.db.openAside({ requestMs: 3_600_000, queue: 16 });
      try {
        for (const [name, area] of Object.entries(areas)) {
          if (only !== undefined && only !== name) continue;
          // An area that cannot be looked at is a finding, and no reason to keep quiet about the others.
          yield await area({ ...room, aside, now: room.clock.now() }).catch((error: Error) => ({
            area: name,
            findings: [problem(`${name}.unreadable`, `This could not be looked at: ${error.message}`)],
            summary: '',
          }));
        }
      } finally {
        await aside.close();
      }
    },
  };
}
