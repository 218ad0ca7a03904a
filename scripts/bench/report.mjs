// The tables of the benchmark, in Markdown: they are read in a terminal and in docs/performance.md alike.
const number = (value, digits = 0) =>
  value === undefined || Number.isNaN(value)
    ? '–'
    : value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
const ms = (microseconds) => number(microseconds / 1000, 2)

/** Every measured figure; `results` maps a work and a target to the medians of its runs. */
export function figures(works, targets, results) {
  const rows = works.flatMap((work) =>
    targets.map((target) => {
      const run = results[work.key][target.name]
      if (!run) return [work.title, target.name, target.missing ?? 'not run', '', '', '', '', '', '']
      const chunks =
        work.key === 'paced'
          ? [number((run.chunksPerSecond / 50_000) * 100, 1), ms(run.delayP50), ms(run.delayP99)]
          : ['', '', '']
      const memory = run.memoryKb === undefined ? '–' : number(run.memoryKb / 1024)
      const latency = work.key === 'paced' ? [chunks[1], chunks[2]] : [ms(run.p50), ms(run.p99)]
      const rate = work.key === 'paced' ? `${chunks[0]} % of the chunks` : number(run.perSecond)
      return [
        work.title,
        target.name,
        rate,
        number(run.cpuPerRequest, run.cpuPerRequest < 100 ? 1 : 0),
        ...latency,
        memory,
        number(run.requests),
        number(run.failed),
      ]
    }),
  )
  return table(['Work', 'Through', 'Requests/s', 'CPU µs each', 'p50 ms', 'p99 ms', 'Memory MB', 'Requests', 'Failed'], rows)
}

/** The figures next to nginx, direct and the targets that the project sets itself. */
export function ratios(results, targets) {
  const of = (work, name) => results[work]?.[name]
  const sluice = targets.find((target) => target.name === 'Sluice, SQLite') ?? {}
  const over = (work, figure, name, base) => of(work, name)?.[figure] / of(work, base)?.[figure]
  const cpu = (work) => over(work, 'cpuPerRequest', 'Sluice, SQLite', 'nginx')
  const added = (figure) => (of('open', 'Sluice, SQLite')?.[figure] - of('open', 'direct')?.[figure]) / 1000
  const paced = of('paced', 'Sluice, SQLite')
  const translated = of('translated', 'Sluice, SQLite')?.cpuPerRequest / of('burst', 'Sluice, SQLite')?.cpuPerRequest

  const floor = (work) => over(work, 'cpuPerRequest', 'Sluice, SQLite', 'floor')
  const floorMemory = targets.find((target) => target.name === 'floor')?.memoryKb
  const lines = [
    ['JSON: CPU of the floor', floor('json'), 'x', 1.6, 'most'],
    ['SSE at once: CPU of the floor', floor('burst'), 'x', 1.6, 'most'],
    ['SSE translated: CPU of the floor', floor('translated'), 'x', 2.2, 'most'],
    ['SSE paced: CPU of the floor', floor('paced'), 'x', 1.25, 'most'],
    ['200 requests/s: CPU of the floor', floor('open'), 'x', 2, 'most'],
    ['Memory after start: of the floor', sluice.memoryKb / floorMemory, 'x', 1.6, 'most'],
    ['PostgreSQL: CPU of SQLite', over('json', 'cpuPerRequest', 'Sluice, PostgreSQL', 'Sluice, SQLite'), 'x', 1.25, 'most'],
    ['JSON: CPU of nginx', cpu('json'), 'x', 5, 'most'],
    ['JSON: requests/s of nginx', over('json', 'perSecond', 'Sluice, SQLite', 'nginx'), 'x', 0.2, 'least'],
    ['SSE at once: CPU of nginx', cpu('burst'), 'x', 3.2, 'most'],
    ['SSE translated: CPU of passing through', translated, 'x', 2.5, 'most'],
    ['SSE paced: CPU of nginx', cpu('paced'), 'x', 1.9, 'most'],
    ['SSE paced: chunks delivered on schedule', (paced?.chunksPerSecond / 50_000) * 100, '%', 99, 'least'],
    ['SSE paced: chunk delay p99', paced?.delayP99 / 1000, 'ms', 50, 'most'],
    ['200 requests/s: added to direct, p50', added('p50'), 'ms', 1, 'most'],
    ['200 requests/s: added to direct, p99', added('p99'), 'ms', 6, 'most'],
    ['PostgreSQL: requests/s of SQLite', over('json', 'perSecond', 'Sluice, PostgreSQL', 'Sluice, SQLite'), 'x', 0.6, 'least'],
    ['Memory after start', sluice.memoryKb / 1024, 'MB', 130, 'most'],
    ['Start to first answer', sluice.startMs, 'ms', 1200, 'most'],
  ]
  if (targets.some(({ name }) => name === 'before'))
    for (const work of Object.keys(results))
      lines.push([`${work}: CPU of before`, over(work, 'cpuPerRequest', 'Sluice, SQLite', 'before'), 'x', 1.05, 'most'])
  const rows = lines.map(([what, value, unit, limit, kind]) => {
    const known = value !== undefined && !Number.isNaN(value)
    const held = kind === 'most' ? value <= limit : value >= limit
    return [
      what,
      known ? `${number(value, value < 100 ? 2 : 0)} ${unit}` : '–',
      `${kind === 'most' ? '≤' : '≥'} ${limit} ${unit}`,
      known ? (held ? 'yes' : 'NO') : 'not measured',
    ]
  })
  return table(['Figure', 'Measured', 'Target', 'Held'], rows)
}

function table(head, rows) {
  const all = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  const line = (row) =>
    `| ${row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(all[0]), rule, ...all.slice(1).map(line)].join('\n')
}
