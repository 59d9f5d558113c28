//! The signatures of the 104 driver functions that `cust` 0.3.2 names, besides `cuGetErrorString`.
//!
//! The linker asks for 66 of them for `cust` alone (the undefined `cu…` symbols that `nm -u` lists of
//! its library) and for the others as soon as a program uses `cust`'s generic functions, so these are
//! all that its source calls. The signatures are those of `cust::sys` (CUDA 11.4).

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

use cust::sys::*;

use super::{OnceLock, absent, forward, function, known};

forward! {
    fn cuArray3DCreate_v2(p_handle: *mut CUarray, p_allocate_array: *const CUDA_ARRAY3D_DESCRIPTOR);
    fn cuArray3DGetDescriptor_v2(p_array_descriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, h_array: CUarray);
    fn cuArrayDestroy(h_array: CUarray);
    fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
    fn cuCtxDestroy_v2(ctx: CUcontext);
    fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint);
    fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache);
    fn cuCtxGetCurrent(pctx: *mut CUcontext);
    fn cuCtxGetDevice(device: *mut CUdevice);
    fn cuCtxGetFlags(flags: *mut c_uint);
    fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit);
    fn cuCtxGetSharedMemConfig(p_config: *mut CUsharedconfig);
    fn cuCtxGetStreamPriorityRange(least_priority: *mut c_int, greatest_priority: *mut c_int);
    fn cuCtxPopCurrent_v2(pctx: *mut CUcontext);
    fn cuCtxPushCurrent_v2(ctx: CUcontext);
    fn cuCtxSetCacheConfig(config: CUfunc_cache);
    fn cuCtxSetCurrent(ctx: CUcontext);
    fn cuCtxSetLimit(limit: CUlimit, value: usize);
    fn cuCtxSetSharedMemConfig(config: CUsharedconfig);
    fn cuCtxSynchronize();
    fn cuDestroyExternalMemory(ext_mem: CUexternalMemory);
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice);
    fn cuDevicePrimaryCtxReset_v2(dev: CUdevice);
    fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice);
    fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice);
    fn cuDriverGetVersion(driver_version: *mut c_int);
    fn cuEventCreate(ph_event: *mut CUevent, flags: c_uint);
    fn cuEventDestroy_v2(h_event: CUevent);
    fn cuEventElapsedTime(p_milliseconds: *mut f32, h_start: CUevent, h_end: CUevent);
    fn cuEventQuery(h_event: CUevent);
    fn cuEventRecord(h_event: CUevent, h_stream: CUstream);
    fn cuEventSynchronize(h_event: CUevent);
    fn cuExternalMemoryGetMappedBuffer(
        dev_ptr: *mut CUdeviceptr, ext_mem: CUexternalMemory,
        buffer_desc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    );
    fn cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction);
    fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache);
    fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig);
    fn cuGraphAddKernelNode(
        ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode,
        num_dependencies: usize, node_params: *const CUDA_KERNEL_NODE_PARAMS,
    );
    fn cuGraphCreate(ph_graph: *mut CUgraph, flags: c_uint);
    fn cuGraphDebugDotPrint(h_graph: CUgraph, path: *const c_char, flags: c_uint);
    fn cuGraphDestroy(h_graph: CUgraph);
    fn cuGraphGetEdges(
        h_graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, num_edges: *mut usize,
    );
    fn cuGraphGetNodes(h_graph: CUgraph, nodes: *mut CUgraphNode, num_nodes: *mut usize);
    fn cuGraphKernelNodeGetParams(h_node: CUgraphNode, node_params: *mut CUDA_KERNEL_NODE_PARAMS);
    fn cuGraphNodeGetType(h_node: CUgraphNode, kind: *mut CUgraphNodeType);
    fn cuImportExternalMemory(
        ext_mem_out: *mut CUexternalMemory, mem_handle_desc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    );
    fn cuInit(flags: c_uint);
    fn cuLaunchHostFunc(h_stream: CUstream, function: CUhostFn, user_data: *mut c_void);
    fn cuLaunchKernel(
        f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint,
        block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, h_stream: CUstream,
        kernel_params: *mut *mut c_void, extra: *mut *mut c_void,
    );
    fn cuLinkAddData_v2(
        state: CUlinkState, kind: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char,
        num_options: c_uint, options: *mut CUjit_option, option_values: *mut *mut c_void,
    );
    fn cuLinkComplete(state: CUlinkState, cubin_out: *mut *mut c_void, size_out: *mut usize);
    fn cuLinkCreate_v2(
        num_options: c_uint, options: *mut CUjit_option, option_values: *mut *mut c_void,
        state_out: *mut CUlinkState,
    );
    fn cuLinkDestroy(state: CUlinkState);
    fn cuMemAdvise(dev_ptr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
    fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, h_stream: CUstream);
    fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize);
    fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint);
    fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize);
    fn cuMemFreeAsync(dptr: CUdeviceptr, h_stream: CUstream);
    fn cuMemFreeHost(p: *mut c_void);
    fn cuMemFree_v2(dptr: CUdeviceptr);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemPrefetchAsync(dev_ptr: CUdeviceptr, count: usize, dst_device: CUdevice, h_stream: CUstream);
    fn cuMemcpy2D_v2(p_copy: *const CUDA_MEMCPY2D);
    fn cuMemcpyAtoH_v2(dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize);
    fn cuMemcpyDtoDAsync_v2(
        dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize, h_stream: CUstream,
    );
    fn cuMemcpyDtoD_v2(dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize);
    fn cuMemcpyDtoHAsync_v2(
        dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize, h_stream: CUstream,
    );
    fn cuMemcpyDtoH_v2(dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize);
    fn cuMemcpyHtoA_v2(dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize);
    fn cuMemcpyHtoDAsync_v2(
        dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize, h_stream: CUstream,
    );
    fn cuMemcpyHtoD_v2(dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize);
    fn cuMemsetD16Async(dst_device: CUdeviceptr, us: c_ushort, n: usize, h_stream: CUstream);
    fn cuMemsetD16_v2(dst_device: CUdeviceptr, us: c_ushort, n: usize);
    fn cuMemsetD32Async(dst_device: CUdeviceptr, ui: c_uint, n: usize, h_stream: CUstream);
    fn cuMemsetD32_v2(dst_device: CUdeviceptr, ui: c_uint, n: usize);
    fn cuMemsetD8Async(dst_device: CUdeviceptr, uc: c_uchar, n: usize, h_stream: CUstream);
    fn cuMemsetD8_v2(dst_device: CUdeviceptr, uc: c_uchar, n: usize);
    fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
    fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char);
    fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char);
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    fn cuModuleLoadDataEx(
        module: *mut CUmodule, image: *const c_void, num_options: c_uint, options: *mut CUjit_option,
        option_values: *mut *mut c_void,
    );
    fn cuModuleUnload(hmod: CUmodule);
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        dynamic_smem_size: *mut usize, func: CUfunction, num_blocks: c_int, block_size: c_int,
    );
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_smem_size: usize,
    );
    fn cuOccupancyMaxPotentialBlockSize(
        min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction,
        block_size_to_dynamic_smem_size: CUoccupancyB2DSize, dynamic_smem_size: usize,
        block_size_limit: c_int,
    );
    fn cuStreamCreateWithPriority(ph_stream: *mut CUstream, flags: c_uint, priority: c_int);
    fn cuStreamDestroy_v2(h_stream: CUstream);
    fn cuStreamGetFlags(h_stream: CUstream, flags: *mut c_uint);
    fn cuStreamGetPriority(h_stream: CUstream, priority: *mut c_int);
    fn cuStreamSynchronize(h_stream: CUstream);
    fn cuStreamWaitEvent(h_stream: CUstream, h_event: CUevent, flags: c_uint);
    fn cuSurfObjectCreate(p_surf_object: *mut CUsurfObject, p_res_desc: *const CUDA_RESOURCE_DESC);
    fn cuSurfObjectDestroy(surf_object: CUsurfObject);
    fn cuSurfObjectGetResourceDesc(p_res_desc: *mut CUDA_RESOURCE_DESC, surf_object: CUsurfObject);
    fn cuTexObjectCreate(
        p_tex_object: *mut CUtexObject, p_res_desc: *const CUDA_RESOURCE_DESC,
        p_tex_desc: *const CUDA_TEXTURE_DESC, p_res_view_desc: *const CUDA_RESOURCE_VIEW_DESC,
    );
    fn cuTexObjectDestroy(tex_object: CUtexObject);
    fn cuTexObjectGetResourceDesc(p_res_desc: *mut CUDA_RESOURCE_DESC, tex_object: CUtexObject);
    fn cuTexObjectGetResourceViewDesc(
        p_res_view_desc: *mut CUDA_RESOURCE_VIEW_DESC, tex_object: CUtexObject,
    );
}
