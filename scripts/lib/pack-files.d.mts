export declare function packFiles(folder: string): Promise<void>
