import type { Random } from '../kernel/index.ts';
import type { OpenKeptValues } from '../nodes/index.ts';

/** A form that waits while its person proves at a provider who they are. */
interface PendingForm {
  /** Where it was sent to, with its query. */
  action: string;
  fields: readonly (readonly [name: string, value: string])[];
}

/**
 * Forms that were sent before their person was asked to confirm who they are, so that nothing that was typed is lost on
 * the way to a provider and back. One for each session; a form that is lost is typed again.
 */
export interface PendingForms {
  /** Keeps a form for ten minutes, instead of an earlier one. @returns the token for the URL; null for a large one */
  store(sessionId: string, form: PendingForm): Promise<string | null>;
  /** The form of this session; null for a token that is replaced, expired or of another session. */
  find(sessionId: string, token: string): Promise<PendingForm | null>;
}

interface Deps {
  random: Random;
  openKeptValues: OpenKeptValues;
}

const ttlMs = 10 * 60_000;
const maxFormCharacters = 256 * 1024;
const most = { values: 10_000, characters: 16 * 1024 * 1024 };
const tokenBytes = 16;

export function createPendingForms({ random, openKeptValues }: Deps): PendingForms {
  const forms = openKeptValues({ kind: 'form', ttlMs, most });
  return {
    async store(sessionId, form) {
      const size = form.fields.reduce((sum, [name, value]) => sum + name.length + value.length, form.action.length);
      if (size > maxFormCharacters) return null;
      const token = random.bytes(tokenBytes).toString('base64url');
      await forms.keep(sessionId, JSON.stringify({ token, form }));
      return token;
    },
    async find(sessionId, token) {
      const found = await forms.find(sessionId);
      if (found === null) return null;
      const kept = JSON.parse(found) as { token: string; form: PendingForm };
      return kept.token === token ? kept.form : null;
    },
  };
}
