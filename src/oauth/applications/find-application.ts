import type { OAuthDeps } from '../deps.ts';
import { applicationSchema } from '../schema/application-schema.ts';
import { toApplication } from './application.ts';
import type { Application } from './application.ts';
import { presetApplications } from './preset-applications.ts';

/** An application as it authenticates: with the hash of its secret. */
interface KnownApplication extends Application {
  secretHash: string | null;
}

/** An application by its client id, the presets included; null where there is none. */
export async function findApplication({ db }: OAuthDeps, clientId: string): Promise<KnownApplication | null> {
  const preset = presetApplications.find((each) => each.clientId === clientId);
  if (preset !== undefined) return { ...preset, secretHash: null };
  const row = await db.read.findOneBy(applicationSchema, { clientId });
  return row === null ? null : { ...toApplication(row), secretHash: row.secretHash };
}
