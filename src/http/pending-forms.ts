import type { Clock, Random } from '../kernel/index.ts';

/** A form that waits while its person proves at a provider who they are. */
export interface PendingForm {
  /** Where it was sent to, with its query. */
  action: string;
  fields: readonly (readonly [name: string, value: string])[];
}

/**
 * Forms that were sent before their person was asked to confirm who they are, so that nothing that was typed is lost on
 * the way to a provider and back. In memory, one for each session: a restart loses it, and the form is typed again.
 */
export interface PendingForms {
  /** Keeps a form for ten minutes, instead of an earlier one. @returns the token for the URL; null for a large one */
  store(sessionId: string, form: PendingForm): string | null;
  /** The form of this session; null for a token that is replaced, expired or of another session. */
  find(sessionId: string, token: string): PendingForm | null;
}

const ttlMs = 10 * 60_000;
const maxFormCharacters = 256 * 1024;
const maxStoredCharacters = 16 * 1024 * 1024;

export function createPendingForms({ clock, random }: { clock: Clock; random: Random }): PendingForms {
  const forms = new Map<string, { token: string; form: PendingForm; until: number; size: number }>();
  let stored = 0;

  function forget(sessionId: string): void {
    stored -= forms.get(sessionId)?.size ?? 0;
    forms.delete(sessionId);
  }

  return {
    store(sessionId, form) {
      forget(sessionId);
      const size = form.fields.reduce((sum, [name, value]) => sum + name.length + value.length, form.action.length);
      if (size > maxFormCharacters) return null;
      // In the order of their end: each is stored for the same time, and again at the end when it is replaced.
      for (const [id, { until }] of forms) {
        if (until > clock.now() && stored + size <= maxStoredCharacters) break;
        forget(id);
      }
      const token = random.bytes(16).toString('base64url');
      forms.set(sessionId, { token, form, until: clock.now() + ttlMs, size });
      stored += size;
      return token;
    },
    find(sessionId, token) {
      const found = forms.get(sessionId);
      return found !== undefined && found.token === token && found.until > clock.now() ? found.form : null;
    },
  };
}
