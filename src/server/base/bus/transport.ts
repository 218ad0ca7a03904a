import { type Topic, topics } from './bus.ts'

/** A transport to the other nodes. It may lose messages; the revision poll finds them. */
export interface Transport {
  readonly name: string
  /** Whether messages arrive, as far as this node can see. While one transport is down, the poll is fast. */
  readonly isUp: boolean
  /**
   * Rejects when the message could not be sent. Between processes of one start it resolves when all of them have the change in force,
   * otherwise when the message has left.
   */
  send(message: string): Promise<void>
  close(): Promise<void>
}

/** The receiver of a transport's messages. */
export interface Receiver {
  /** Resolves when the change is in force in this process. Never rejects. */
  receive(message: string): Promise<void>
  /** The transport has come up or gone down. */
  changed(): void
}

interface Change {
  readonly node: string
  readonly topic: Topic
  readonly ids: readonly number[]
  /** The revision of the topic after this change. */
  readonly revision: number
}

/** `<node>:<topic>:<id>,<id>:<revision>`. More ids than fit into a message become 0, "anything". */
export function writeChange({ node, topic, ids, revision }: Change): string {
  const listed = ids.length > 300 || ids.includes(0) ? [0] : ids
  return `${node}:${topic}:${listed.join(',')}:${revision}`
}

/** Undefined for messages of another version or another program. */
export function readChange(message: string): Change | undefined {
  const [node = '', name, ids = '', revision = '', ...rest] = message.split(':')
  const topic = topics.find((known) => known === name)
  if (!topic || rest.length > 0 || !/^\d+(,\d+)*$/.test(ids) || !/^\d+$/.test(revision)) return undefined
  return { node, topic, ids: ids.split(',').map(Number), revision: Number(revision) }
}
