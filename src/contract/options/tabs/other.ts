import { appearance } from '../appearance.ts'
import { updates } from '../server.ts'

export const sections = [appearance, updates] as const
