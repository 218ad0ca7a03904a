/** Sparks over the whole window; the returned function stops them. Outside of React: it draws on its own canvas. */
export function startFireworks(): () => void {
  const canvas = document.createElement('canvas')
  const pen = canvas.getContext('2d')
  if (!pen) return () => {}
  canvas.style.cssText = 'position:fixed;inset:0;z-index:1000;pointer-events:none'
  canvas.width = window.innerWidth
  canvas.height = window.innerHeight
  document.body.append(canvas)

  let sparks: Spark[] = []
  let frame = requestAnimationFrame(draw)
  const bursts = setInterval(() => {
    sparks.push(...burstAt(Math.random() * canvas.width, Math.random() * canvas.height * 0.6))
  }, 220)

  function draw(): void {
    pen?.clearRect(0, 0, canvas.width, canvas.height)
    sparks = sparks.flatMap(moved)
    for (const { x, y, life, hue } of sparks) {
      if (!pen) return
      pen.fillStyle = `hsl(${hue} 85% 60% / ${life})`
      pen.fillRect(x, y, 3, 3)
    }
    frame = requestAnimationFrame(draw)
  }

  return () => {
    clearInterval(bursts)
    cancelAnimationFrame(frame)
    canvas.remove()
  }
}

interface Spark {
  readonly x: number
  readonly y: number
  readonly dx: number
  readonly dy: number
  /** From 1 down to 0. */
  readonly life: number
  readonly hue: number
}

const sparksPerBurst = 70

function burstAt(x: number, y: number): Spark[] {
  const hue = Math.random() * 360
  return Array.from({ length: sparksPerBurst }, () => {
    const angle = Math.random() * 2 * Math.PI
    const speed = 1 + Math.random() * 5
    return { x, y, dx: Math.cos(angle) * speed, dy: Math.sin(angle) * speed, life: 1, hue: hue + Math.random() * 40 }
  })
}

function moved({ x, y, dx, dy, life, hue }: Spark): Spark[] {
  return life <= 0.02 ? [] : [{ x: x + dx, y: y + dy, dx: dx * 0.98, dy: dy * 0.98 + 0.05, life: life - 0.014, hue }]
}
