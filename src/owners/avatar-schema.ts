import { EntitySchema } from 'typeorm';
import type { ImageType } from '../images/index.ts';

/** A picture of a person or an organisation; who has none is drawn one. */
export interface AvatarRow {
  ownerId: string;
  contentType: ImageType;
  /** Epoch milliseconds, the `v` of its address. */
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
