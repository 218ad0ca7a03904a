import type { Logger } from '../lib/log/logger.ts'
import { newRedisClient, OutageLog } from './redis-client.ts'
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
  const outage = new OutageLog(logger, 'Nothing is lost: news between nodes takes another way until it is back')

  const check = () => {
    const isUpNow = publisher.isReady && subscriber.isReady && isSubscribed
    if (isUpNow === isUp) return
    isUp = isUpNow
    if (isUp) outage.ended('Redis is back')
    receiver.changed()
  }

  const failed = (error: unknown) => {
    outage.failed(error)
    check()
  }
  for (const client of [publisher, subscriber]) {
    client.on('ready', check)
    client.on('error', failed)
  }
  // Later, the client resubscribes automatically after each reconnect. Redis may accept a connection and refuse to subscribe it.
  const subscribe = () => {
    if (isSubscribed) return
    subscriber
      .subscribe(channel, (message) => receiver.receive(message))
      .then(() => {
        isSubscribed = true
        check()
      })
      .catch(failed)
  }
  subscriber.on('ready', subscribe).on('ping-interval', subscribe)
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
