import type { Logger } from '../lib/logger.ts'
import { newRedisClient } from './redis-client.ts'
import type { Receiver, Transport } from './transport.ts'

/**
 * Notifications by publish and subscribe of Redis. Redis only makes them faster; without it nothing is lost and nothing waits.
 * `prefix` keeps installations apart that share one Redis. Never throws.
 */
export async function openRedisTransport(
  { url, prefix, logger }: { url: string; prefix: string; logger: Logger },
  receiver: Receiver,
): Promise<Transport> {
  const channel = `${prefix}:news`
  const publisher = await newRedisClient({ url, commandsMax: 1000 })
  const subscriber = publisher.duplicate()
  let isSubscribed = false
  let isUp = false
  let isWarned = false

  const check = () => {
    const isUpNow = publisher.isReady && subscriber.isReady && isSubscribed
    if (isUpNow === isUp) return
    isUp = isUpNow
    if (isUp && isWarned) logger.info('Redis is back')
    if (isUp) isWarned = false
    receiver.changed()
  }

  for (const client of [publisher, subscriber]) {
    client.on('ready', check)
    client.on('error', (error: unknown) => {
      if (!isWarned)
        logger.warn({ error }, 'REDIS IS UNREACHABLE. Nothing is lost: news between nodes takes another way until it is back')
      isWarned = true
      check()
    })
  }
  // Later, the client resubscribes automatically after each reconnect.
  subscriber.on('ready', () => {
    if (isSubscribed) return
    subscriber
      .subscribe(channel, (message) => receiver.receive(message))
      .then(() => {
        isSubscribed = true
        check()
      })
      .catch(() => {})
  })
  for (const client of [publisher, subscriber]) client.connect().catch(() => {})

  return {
    name: 'redis',
    get isUp() {
      return isUp
    },
    async send(message) {
      if (publisher.isReady) publisher.publish(channel, message).catch(() => {})
    },
    async close() {
      publisher.destroy()
      subscriber.destroy()
    },
  }
}
