import { EntitySchema } from 'typeorm';

/** A topic of a repository, in lower case. */
interface TopicRow {
  repositoryId: string;
  topic: string;
  createdAt: number;
}

export const topicSchema = new EntitySchema<TopicRow>({
  name: 'topic',
  tableName: 'repository_topics',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    topic: { type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
