import { EntitySchema } from 'typeorm';
import type { ImageType } from '../images/index.ts';

/** The avatar of a person or an organisation; without one, a generated one is shown. */
export interface AvatarRow {
  ownerId: string;
  contentType: ImageType;
  /** Epoch milliseconds, the `v` of its URL. */
  updatedAt: number;
}

export const avatarSchema = new EntitySchema<AvatarRow>({
  name: 'Avatar',
  tableName: 'avatars',
  columns: {
    ownerId: { name: 'owner_id', type: 'text', primary: true },
    contentType: { name: 'content_type', type: 'text' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
