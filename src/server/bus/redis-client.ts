const reconnectMs = { first: 100, most: 3000 }

/**
 * A client of the configured Redis that is not connected yet. It never queues commands: while Redis is down they fail immediately, and
 * it keeps trying to connect. The package is loaded only when Redis is configured.
 */
export async function newRedisClient({ url, commandsMax }: { url: string; commandsMax: number }) {
  const { createClient } = await import('@redis/client')
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: commandsMax,
    pingInterval: 2000,
    socket: {
      connectTimeout: 3000,
      socketTimeout: 5000,
      reconnectStrategy: (retries) =>
        Math.min(reconnectMs.first * 2 ** Math.min(retries, 10), reconnectMs.most) * (0.5 + Math.random() / 2),
    },
  })
}

export type RedisClient = Awaited<ReturnType<typeof newRedisClient>>
